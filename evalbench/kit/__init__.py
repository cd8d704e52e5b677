"""What every study is built of: options, sampling, collecting, judging, scoring, verdicts, comparing, cases."""
