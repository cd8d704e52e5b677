// Questions to the server of this page; a fault comes as a sentence.

export class Fault extends Error {}
globalThis.evalbenchFault = Fault;

export async function ask(name, values = {}) {
  if (globalThis.evalbenchAnswers) return globalThis.evalbenchAnswers(name, values); // a pack, or a notebook's kernel
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  let answer;
  try {
    answer = await fetch(`${name}?${new URLSearchParams(given)}`);
  } catch {
    throw new Fault("The server does not answer: is evalbench view still running?");
  }
  if (answer.status === 403) throw new Fault(await answer.text());
  if (!answer.ok && !(answer.headers.get("content-type") ?? "").includes("json")) {
    throw new Fault(`The server failed (${answer.status}); the terminal in which it runs says why.`);
  }
  const said = await answer.json();
  if (!answer.ok) throw new Fault(said.fault);
  return said;
}

// Something to be saved; answered like a question.
export async function send(name, values) {
  if (globalThis.evalbenchAnswers) return globalThis.evalbenchAnswers(name, values);
  let answer;
  try {
    answer = await fetch(name, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(values) });
  } catch {
    throw new Fault("Nothing was saved: the server does not answer. Is evalbench view still running?");
  }
  if (answer.status === 403) throw new Fault(await answer.text());
  const said = await answer.json();
  if (!answer.ok) throw new Fault(said.fault);
  return said;
}
