import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { constants, createDeflateRaw, createInflateRaw, type DeflateRaw } from 'node:zlib';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { Clock } from '../../mail/imap/options.ts';
import type { ConnectionLimits } from '../../mail/guard/connection-limiter.ts';
import type { ImapStore } from '../../mail/imap/imap-store.ts';
import type { ImapLimits } from '../../mail/imap/limits.ts';
import { startImap } from '../../mail/imap/server.ts';
import type { ImapServer } from '../../mail/imap/server.ts';
import { MemoryBudget } from '../../mail/limits/memory-budget.ts';
import { quiet } from '../../mail/log.ts';
import type { Login, LoginOutcome, Logins, Peer, SaslExchange, SaslStep } from '../../mail/login/types.ts';
import { testCertificate } from './certificate.ts';
import { testGuard } from './guard.ts';
import { FakeImapStore } from './fake-imap-store.ts';

export const USER = 'me@box.test';
export const PASSWORD = 'secret';

/** One account, `me@box.test` with the password `secret`; PLAIN and nothing else. */
export class FakeLogins implements Logins {
  private readonly endings = new Set<() => void>();
  /** Answered instead of looking at the password. */
  answer: LoginOutcome | undefined;

  mechanisms(peer: Peer): readonly string[] {
    return peer.secure ? ['PLAIN'] : [];
  }

  start(mechanism: string, peer: Peer): SaslExchange | undefined {
    if (mechanism !== 'PLAIN' || !peer.secure) return undefined;
    return { step: (response) => this.step(response) };
  }

  async password(user: string, password: string): Promise<LoginOutcome> {
    await Promise.resolve();
    if (this.answer !== undefined) return this.answer;
    if (user !== USER || password !== PASSWORD) return { kind: 'wrong' };
    return { kind: 'in', login: { account: 1, address: { local: 'me', domain: 'box.test' }, credential: 1 } };
  }

  onRevoked(_login: Login, end: () => void): () => void {
    this.endings.add(end);
    return () => this.endings.delete(end);
  }

  /** The password was changed. */
  revoke(): void {
    for (const end of this.endings) end();
  }

  get watched(): number {
    return this.endings.size;
  }

  private step(response: Buffer | undefined): Promise<SaslStep> {
    if (response === undefined) return Promise.resolve({ kind: 'challenge', data: Buffer.alloc(0) });
    const [authzid, user, password, ...more] = response.toString().split('\0');
    if (authzid === undefined || user === undefined || password === undefined || more.length > 0) {
      return Promise.resolve({ kind: 'malformed', why: 'That is not PLAIN' });
    }
    return this.password(user, password);
  }
}

/** A clock that a test advances. */
export class FakeClock implements Clock {
  time = 1_700_000_000_000;
  readonly slept: number[] = [];

  now(): number {
    return this.time;
  }

  sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    this.time += ms;
    return Promise.resolve();
  }
}

/** A client that reads lines, one after the other. */
export class ImapClient {
  socket: Socket;
  closed = false;
  private received = '';
  private deflate: DeflateRaw | undefined;
  private waiting: (() => void) | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    this.listen(socket);
  }

  send(text: string | Buffer): void {
    const octets = typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
    (this.deflate ?? this.socket).write(octets);
  }

  /** Compresses from now on, as after COMPRESS DEFLATE. */
  compress(): void {
    const { socket } = this;
    const inflate = createInflateRaw();
    this.deflate = createDeflateRaw({ flush: constants.Z_SYNC_FLUSH });
    this.deflate.on('data', (piece: Buffer) => socket.write(piece));
    socket.removeAllListeners('data').removeAllListeners('close');
    socket.on('data', (piece: Buffer) => inflate.write(piece));
    // Inflating ends later than the connection.
    socket.on('close', () =>
      inflate.flush(() => {
        this.closed = true;
        this.wake();
      }),
    );
    inflate.on('data', (piece: Buffer) => {
      this.received += piece.toString('latin1');
      this.wake();
    });
  }

  /** The next line without its end; undefined when the connection was closed. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.received.indexOf('\r\n');
      if (end >= 0) {
        const line = this.received.slice(0, end);
        this.received = this.received.slice(end + 2);
        return line;
      }
      if (this.closed) return undefined;
      await new Promise<void>((resolve) => {
        this.waiting = resolve;
      });
    }
  }

  /** Sends a command and answers all lines up to the tagged one, that one included. */
  async command(text: string, tag = 't'): Promise<string[]> {
    this.send(`${tag} ${text}\r\n`);
    return this.until((line) => line.startsWith(`${tag} `));
  }

  async until(last: (line: string) => boolean): Promise<string[]> {
    const lines: string[] = [];
    for (let line = await this.line(); line !== undefined; line = await this.line()) {
      lines.push(line);
      if (last(line)) return lines;
    }
    return [...lines, '(closed)'];
  }

  /** Begins TLS on this connection, as after STARTTLS. */
  async secure(): Promise<void> {
    const plain = this.socket;
    plain.removeAllListeners('data').removeAllListeners('close');
    const socket = connectTls({ socket: plain, rejectUnauthorized: false });
    this.socket = socket;
    this.listen(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve);
      socket.once('close', () => reject(new Error('closed in the handshake')));
    });
  }

  private listen(socket: Socket): void {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
      this.wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
      this.wake();
    });
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.();
  }
}

export interface ImapWorld extends AsyncDisposable {
  server: ImapServer;
  store: FakeImapStore;
  logins: FakeLogins;
  clock: FakeClock;
  /** Faults that were logged. */
  faults: object[];
  port: number;
  tlsPort: number;
  /** A connection with the greeting read. */
  connect(): Promise<ImapClient>;
  connectTls(): Promise<ImapClient>;
  /** A connection that is logged in, and has INBOX selected if that is named. */
  client(mailbox?: string): Promise<ImapClient>;
}

export interface WorldOptions {
  limits?: Partial<ImapLimits>;
  local?: boolean;
  exempt?: boolean;
  positions?: Partial<ConnectionLimits>;
  memory?: MemoryBudget;
  /** The account's store instead of the one in memory. */
  open?: () => ImapStore;
  uidOnly?: boolean;
}

/** The IMAP server over a store in memory, on free ports of the loopback interface. */
export async function imapWorld({
  limits = {},
  local = true,
  exempt = false,
  positions = {},
  memory = new MemoryBudget(Infinity),
  open,
  uidOnly = false,
}: WorldOptions = {}): Promise<ImapWorld> {
  const [store, logins, clock] = [new FakeImapStore(), new FakeLogins(), new FakeClock()];
  const faults: object[] = [];
  const context = createSecureContext(await testCertificate('imap.box.test'));
  const server = await startImap({
    hostname: 'imap.box.test',
    listeners: [
      { tls: 'starttls', host: '127.0.0.1', port: 0 },
      { tls: 'implicit', host: '127.0.0.1', port: 0 },
    ],
    logins,
    guard: testGuard(positions, { isExempt: () => exempt }),
    open: open ?? (() => store),
    uidOnly,
    jmapUrl: () => 'https://imap.box.test/.well-known/jmap',
    secureContext: () => context,
    limits,
    memory,
    local,
    exempt: () => exempt,
    log: { ...quiet, error: (fields) => faults.push(fields) },
    meter: quiet,
    clock,
  });
  const [plain, tls] = server.addresses();
  const [port, tlsPort] = [plain?.port ?? 0, tls?.port ?? 0];
  const clients: ImapClient[] = [];
  const opened = (socket: Socket): ImapClient => {
    const client = new ImapClient(socket);
    clients.push(client);
    return client;
  };
  const connect = async (): Promise<ImapClient> => {
    const client = opened(connectTcp(port, '127.0.0.1'));
    await client.line();
    return client;
  };
  return {
    server,
    store,
    logins,
    clock,
    faults,
    port,
    tlsPort,
    connect,
    async connectTls() {
      const client = opened(connectTls({ port: tlsPort, host: '127.0.0.1', rejectUnauthorized: false }));
      await client.line();
      return client;
    },
    async client(mailbox) {
      const client = await connect();
      await client.command(`LOGIN ${USER} ${PASSWORD}`);
      if (mailbox !== undefined) await client.command(`SELECT ${mailbox}`);
      return client;
    },
    async [Symbol.asyncDispose]() {
      const closing = server.close(200);
      for (const { socket } of clients) socket.destroy();
      await closing;
    },
  };
}
