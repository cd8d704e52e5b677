"""A judge that looks things up: it searches, opens passages and calculates before it decides, and its evidence is checked.

``agent:MODEL`` wherever a judge is named, with settings in brackets: ``agent[calls=4, corpus=handbook/]:MODEL``
(:class:`evalbench.judge.agent.naming.Agent`).  The prompt is the task's own; what it says of tools comes before it.
"""
