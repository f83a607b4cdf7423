import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const PATIENCE_MS = 30_000;
/** An end of a response is not longer. */
const TAIL = 2_000;

/** A server's response, unparsed: strings as {text} with one character an octet, atoms as strings, NIL as null. */
export type Value = null | string | { text: string } | Value[];

/** An IMAP client without opinions: octets out, octets in. */
export class RawImap implements Disposable {
  readonly #socket: Socket;
  #input: Buffer[] = [];
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#input.push(chunk);
      this.#wake();
    });
    socket.on('error', () => this.#wake());
    socket.on('close', () => this.#wake());
  }

  static async open(at: { port: number; tls?: boolean; user: string; pass: string }): Promise<RawImap> {
    const where = { host: '127.0.0.1', port: at.port };
    const socket = at.tls === true ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where);
    const client = new RawImap(socket);
    await client.#until((text) => text.includes('\r\n'));
    await client.command(`LOGIN ${at.user} ${at.pass}`);
    return client;
  }

  /** Sends a command, with a literal behind it, and answers everything up to and with the tagged OK. */
  async command(text: string, literal?: Buffer): Promise<string> {
    const tag = `T${randomBytes(6).toString('hex')}`;
    this.#input = [];
    if (literal === undefined) this.#socket.write(`${tag} ${text}\r\n`);
    else {
      this.#socket.write(`${tag} ${text} {${literal.length}}\r\n`);
      await this.#until((said) => /(?:^|\n)\+ [^\n]*\n/.test(said) || said.includes(tag));
      this.#socket.write(literal);
      this.#socket.write('\r\n');
    }
    const said = await this.#until((all) => all.endsWith('\r\n') && all.includes(`${tag} `));
    const at = said.lastIndexOf(`${tag} `);
    const end = said.slice(at + tag.length + 1);
    if (!end.startsWith('OK')) throw new Error(`${text}: ${end.trim()}`);
    return said;
  }

  /** The data items of each FETCH response, by message. Items are in upper case. */
  async fetch(what: string): Promise<Map<number, Record<string, Value>>> {
    const said = await this.command(`FETCH ${what}`);
    const all = new Map<number, Record<string, Value>>();
    for (let at = 0; at < said.length;) {
      const head = /^\* (\d+) FETCH /.exec(said.slice(at, at + 40));
      const [value, end] = head === null ? [null, said.indexOf('\r\n', at)] : readValue(said, at + head[0].length);
      if (head !== null && Array.isArray(value)) all.set(Number(head[1]), items(value));
      at = end + 2;
    }
    return all;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  /** Waits until what came last, some thousand octets, satisfies; answers everything since the command. */
  async #until(found: (tail: string) => boolean): Promise<string> {
    const late = performance.now() + PATIENCE_MS;
    for (;;) {
      if (found(this.#tail())) return Buffer.concat(this.#input).toString('latin1');
      if (this.#socket.destroyed || performance.now() > late)
        throw new Error(`the server said no more: ${this.#tail()}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, 1_000);
      await promise;
      clearTimeout(timer);
    }
  }

  #tail(): string {
    let first = this.#input.length;
    for (let octets = 0; first > 0 && octets < TAIL;) octets += this.#input[--first]?.length ?? 0;
    return Buffer.concat(this.#input.slice(first)).subarray(-TAIL).toString('latin1');
  }
}

const atom = (value: Value): string => (typeof value === 'string' ? value.toUpperCase() : '');

function items(list: Value[]): Record<string, Value> {
  const pairs = list.flatMap((name, at) => (at % 2 === 0 ? [[atom(name), list[at + 1] ?? null]] : []));
  return Object.fromEntries(pairs) as Record<string, Value>;
}

/** Reads one value leniently, as servers write it, and answers where it ends. */
function readValue(wire: string, from: number): [Value, number] {
  const stack: Value[][] = [[]];
  let at = from;
  for (;;) {
    const char = wire[at];
    if (char === ' ') at += 1;
    else if (char === '(') {
      const list: Value[] = [];
      stack.at(-1)?.push(list);
      stack.push(list);
      at += 1;
    } else if (char === ')') {
      stack.pop();
      at += 1;
      if (stack.length === 1) return [stack[0]?.[0] ?? null, at];
    } else {
      const [value, end] = scalar(wire, at);
      stack.at(-1)?.push(value);
      at = end;
      if (stack.length === 1) return [value, at];
    }
  }
}

function scalar(wire: string, at: number): [Value, number] {
  if (wire[at] === '"') {
    let end = at + 1;
    while (wire[end] !== '"' && end < wire.length) end += wire[end] === '\\' ? 2 : 1;
    return [{ text: wire.slice(at + 1, end).replace(/\\(.)/g, '$1') }, end + 1];
  }
  const literal = /^\{(\d+)\}\r\n/.exec(wire.slice(at, at + 30));
  if (literal !== null) {
    const start = at + literal[0].length;
    return [{ text: wire.slice(start, start + Number(literal[1])) }, start + Number(literal[1])];
  }
  let end = at;
  while (end < wire.length && !' ()\r'.includes(wire[end] ?? ''))
    end += wire[end] === '[' ? wire.slice(end).indexOf(']') : 1;
  if (end === at) throw new Error(`no value at: ${wire.slice(at - 40, at + 40)}`);
  const atom = wire.slice(at, end);
  return [atom.toUpperCase() === 'NIL' ? null : atom, end];
}
