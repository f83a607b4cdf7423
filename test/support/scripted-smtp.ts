import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { TLSSocket, type SecureContext } from 'node:tls';
import { freePort } from './free-port.ts';

/** Action of a scripted server at one stage; without an action in the script it behaves well. */
export type Action =
  /** Says this, a CRLF is added. `\r\n` inside makes several lines. */
  | string
  | { say: string | Buffer; raw?: true }
  /** Closes in good order, with the words first. */
  | { close: string }
  /** Closes without a word, or with a TCP reset; or says nothing more for as long as the client waits. */
  | { do: 'drop' | 'reset' | 'silence' }
  /** Says so many octets and no more, and closes. */
  | { cut: string }
  /** Says one octet of the text each 5 ms. */
  | { slowly: string };

export const DROP: Action = { do: 'drop' };
export const RESET: Action = { do: 'reset' };
export const SILENCE: Action = { do: 'silence' };

export type Stage =
  'connect' | 'ehlo' | 'helo' | 'starttls' | 'mail' | 'rcpt' | 'data' | 'dot' | 'rset' | 'quit' | 'other';

/** By stage: an action, or what decides on one from the line and how often the stage was met on this server. */
export type Script = Partial<
  Record<
    Stage,
    Action | undefined | ((line: string, times: number) => Action | undefined | Promise<Action | undefined>)
  >
>;

export interface ReceivedMail {
  /** Number of the connection, from 1. */
  connection: number;
  from: string;
  to: string[];
  /** Exactly what came between DATA and the end, dots still doubled. */
  raw: Buffer;
}

export interface ScriptedServer extends AsyncDisposable {
  host: string;
  port: number;
  script: Script;
  /** Keywords of EHLO; changes count from the next EHLO on. */
  offers: string[];
  /** Certificate for STARTTLS, which is offered when there is one. */
  tls: SecureContext | undefined;
  /** For each TLS handshake: true if it resumed an earlier session. */
  resumed: boolean[];
  mails: ReceivedMail[];
  /** Every command line, with the number of its connection in front. */
  lines: string[];
  connections: number;
  /** Where each connection came from. */
  peers: string[];
  open: number;
  mostOpen: number;
  /** Drops a connection when so many octets have come over it. */
  dropAfter: number;
  /** Resolves when `count` mails are there. */
  received(count: number): Promise<ReceivedMail[]>;
  closeIdle(words: string): void;
}

/**
 * Starts an SMTP server on loopback that does what its script says. Without a port it has one that others on loopback
 * can have as well.
 */
export async function scriptedServer(script: Script = {}, host = '127.0.0.1', port?: number): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const listener: Server = createServer((socket) => serve(server, socket, sockets, changed));
  const waiting: { count: number; resolve: () => void }[] = [];
  const changed = (): void => {
    for (const one of waiting) if (server.mails.length >= one.count) one.resolve();
  };
  const server: ScriptedServer = {
    host,
    port: 0,
    script,
    offers: ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'DSN', 'SIZE 50000000'],
    tls: undefined,
    resumed: [],
    mails: [],
    lines: [],
    connections: 0,
    peers: [],
    open: 0,
    mostOpen: 0,
    dropAfter: Infinity,
    async received(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count, resolve });
      changed();
      await promise;
      return server.mails;
    },
    closeIdle(words) {
      for (const socket of sockets) socket.end(`${words}\r\n`);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
  listener.listen(port ?? (await freePort()), host);
  await once(listener, 'listening');
  const address = listener.address();
  server.port = typeof address === 'object' && address !== null ? address.port : 0;
  return server;
}

const GOOD: Record<Stage, string> = {
  connect: '220 scripted.test ESMTP',
  ehlo: '',
  helo: '250 scripted.test',
  starttls: '220 2.0.0 Go ahead',
  mail: '250 2.1.0 Ok',
  rcpt: '250 2.1.5 Ok',
  data: '354 Go ahead',
  dot: '250 2.0.0 Taken',
  rset: '250 2.0.0 Ok',
  quit: '221 2.0.0 Bye',
  other: '500 5.5.1 What?',
};

function serve(server: ScriptedServer, socket: Socket, sockets: Set<Socket>, changed: () => void): void {
  const met = counters.get(server) ?? new Map<Stage, number>();
  counters.set(server, met);
  server.connections += 1;
  server.peers.push(socket.remoteAddress ?? '');
  server.open += 1;
  server.mostOpen = Math.max(server.mostOpen, server.open);
  const connection = server.connections;
  const talk = new Talk(server, socket, connection, met, changed);
  sockets.add(socket);
  socket.setNoDelay(true);
  socket.on('close', () => {
    server.open -= 1;
    sockets.delete(socket);
  });
  talk.start();
}

const counters = new WeakMap<ScriptedServer, Map<Stage, number>>();

class Talk {
  readonly #server: ScriptedServer;
  readonly #connection: number;
  readonly #met: Map<Stage, number>;
  readonly #changed: () => void;
  #socket: Socket;
  #input = Buffer.alloc(0);
  #octets = 0;
  #busy = false;
  #data = false;
  #secure = false;
  #from = '';
  #to: string[] = [];

  constructor(
    server: ScriptedServer,
    socket: Socket,
    connection: number,
    met: Map<Stage, number>,
    changed: () => void,
  ) {
    this.#server = server;
    this.#socket = socket;
    this.#connection = connection;
    this.#met = met;
    this.#changed = changed;
  }

  start(): void {
    this.#listen(this.#socket);
    void this.#step('connect', '');
  }

  #listen(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      this.#octets += chunk.length;
      if (this.#octets >= this.#server.dropAfter) return void socket.resetAndDestroy();
      this.#input = Buffer.concat([this.#input, chunk]);
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    while (!this.#busy && !this.#socket.destroyed) {
      const end = this.#data ? endOfData(this.#input) : this.#input.indexOf('\r\n') + 2;
      if (end < 2) return;
      const taken = this.#input.subarray(0, end);
      this.#input = this.#input.subarray(end);
      if (this.#data) await this.#mail(taken);
      else await this.#command(taken.toString('utf8').slice(0, -2));
    }
  }

  async #mail(raw: Buffer): Promise<void> {
    this.#data = false;
    const mail = { connection: this.#connection, from: this.#from, to: this.#to, raw: Buffer.from(raw) };
    const said = await this.#step('dot', '');
    if (!said.startsWith('2') && !['drop', 'reset', 'cut', 'silence'].includes(said)) return;
    this.#server.mails.push(mail);
    this.#changed();
  }

  async #command(line: string): Promise<void> {
    this.#server.lines.push(`${this.#connection} ${line}`);
    const verb = (line.split(/[ :]/, 1)[0] ?? '').toLowerCase();
    const stage = Object.hasOwn(GOOD, verb) ? (verb as Stage) : 'other';
    if (stage === 'rset' || stage === 'mail') [this.#from, this.#to] = ['', []];
    const said = await this.#step(stage, line);
    const path = /<([^]*?)>(?: |$)/.exec(line)?.[1] ?? '';
    if (stage === 'mail' && said.startsWith('2')) this.#from = path;
    if (stage === 'rcpt' && said.startsWith('2')) this.#to.push(path);
    if (stage === 'data' && said.startsWith('354')) this.#data = true;
    if (stage === 'starttls' && said.startsWith('220')) this.#startTls();
    if (stage === 'quit') this.#socket.end();
  }

  #startTls(): void {
    if (this.#server.tls === undefined) return;
    this.#socket.removeAllListeners('data');
    const secure = new TLSSocket(this.#socket, { isServer: true, secureContext: this.#server.tls });
    secure.once('secure', () => this.#server.resumed.push(secure.isSessionReused()));
    this.#socket = secure;
    this.#secure = true;
    this.#listen(this.#socket);
  }

  async #step(stage: Stage, line: string): Promise<string> {
    this.#busy = true;
    const times = (this.#met.get(stage) ?? 0) + 1;
    this.#met.set(stage, times);
    const scripted = this.#server.script[stage];
    const chosen = typeof scripted === 'function' ? await scripted(line, times) : scripted;
    const said = await this.#act(chosen ?? (stage === 'ehlo' ? this.#ehlo() : GOOD[stage]));
    this.#busy = said === 'silence';
    // Commands may have come while the script made up its mind; what called this goes on first.
    setImmediate(() => void this.#work());
    return said;
  }

  #ehlo(): string {
    const startTls = this.#server.tls !== undefined && !this.#secure ? ['STARTTLS'] : [];
    const words = ['scripted.test', ...this.#server.offers, ...startTls];
    return words.map((word, at) => `250${at === words.length - 1 ? ' ' : '-'}${word}`).join('\r\n');
  }

  async #act(action: Action): Promise<string> {
    if (typeof action === 'object' && 'do' in action) {
      if (action.do === 'drop') this.#socket.destroy();
      if (action.do === 'reset') this.#socket.resetAndDestroy();
      return action.do;
    }
    if (typeof action === 'string') return (this.#socket.write(`${action}\r\n`), action);
    if ('close' in action) return (this.#socket.end(`${action.close}\r\n`), action.close);
    if ('cut' in action) return (this.#socket.end(action.cut), 'cut');
    if ('slowly' in action) return this.#slowly(action.slowly);
    this.#socket.write(action.say);
    return action.say.toString('latin1');
  }

  async #slowly(text: string): Promise<string> {
    for (const octet of Buffer.from(text)) {
      if (this.#socket.destroyed) break;
      this.#socket.write(Buffer.from([octet]));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return text;
  }
}

/** Where a message ends, or -1: only CRLF.CRLF ends it. */
function endOfData(input: Buffer): number {
  if (input.subarray(0, 3).toString('latin1') === '.\r\n') return 3;
  const at = input.indexOf('\r\n.\r\n');
  return at < 0 ? -1 : at + 5;
}
