import { createSecureContext } from 'node:tls';
import { quiet } from '../../mail/log.ts';
import type { Login, LoginOutcome, Logins, SaslExchange, SaslStep } from '../../mail/login/types.ts';
import { formatAddress, parseAddress, type Address } from '../../mail/message/address.ts';
import type { MessageEnvelope, ReceiverBackend, SmtpRefusal, RecipientRoute } from '../../mail/receiver/needs.ts';
import type { SmtpLimits, ReceiverOptions } from '../../mail/receiver/options.ts';
import { startSmtpServer, type SmtpServer } from '../../mail/receiver/server.ts';
import { testGuard } from './guard.ts';
import { testCertificate } from './certificate.ts';

/** A message that was given to `finish`. */
export interface Taken {
  envelope: MessageEnvelope;
  octets: Buffer;
}

/** A store in memory: `box.test` is hosted with `me` and `you`; `pending.test` is not verified; `full@box.test` is full. */
export class FakeReceiverBackend implements ReceiverBackend {
  readonly taken: Taken[] = [];
  opened = 0;
  /** Octets of messages that came so far. */
  written = 0;
  /** Pieces in which they came. */
  writes = 0;
  aborted = 0;
  /** Messages between `finish` and its answer. */
  finishing = 0;
  refusal: SmtpRefusal | undefined;
  verdict: SmtpRefusal | undefined;
  /** Makes `finish` wait, to look at a session in the middle. */
  hold: Promise<void> | undefined;
  failure: Error | undefined;
  asynchronous = false;
  greylist: Required<ReceiverBackend>['greylist'] = () => Promise.resolve(undefined);

  route(to: Address, _login: Login | undefined): RecipientRoute | Promise<RecipientRoute> {
    const route = this.#routeOf(to);
    return this.asynchronous ? Promise.resolve(route) : route;
  }

  #routeOf(to: Address): RecipientRoute {
    if (to.domain === 'pending.test') return { kind: 'unverified' };
    if (to.domain === 'broken.test') throw new Error('the store is away');
    if (to.domain !== 'box.test' && to.domain !== 'mx.box.test') return { kind: 'elsewhere' };
    if (to.local === 'full') return { kind: 'full' };
    const known = ['me', 'you', 'postmaster', 'bücher'].includes(to.local.toLowerCase());
    return known ? { kind: 'here', accounts: [1], address: to } : { kind: 'unknown' };
  }

  maySend(login: Login, sender: Address | undefined): 'own' | 'foreign' {
    return sender !== undefined && formatAddress(sender) === formatAddress(login.address) ? 'own' : 'foreign';
  }

  refuseNow(): SmtpRefusal | undefined {
    return this.refusal;
  }

  open(envelope: MessageEnvelope) {
    const chunks: Buffer[] = [];
    this.opened += 1;
    return {
      write: (chunk: Buffer) => {
        chunks.push(Buffer.from(chunk));
        this.written += chunk.length;
        this.writes += 1;
        return this.asynchronous ? Promise.resolve() : undefined;
      },
      finish: async () => {
        this.finishing += 1;
        await this.hold;
        this.finishing -= 1;
        if (this.failure !== undefined) throw this.failure;
        if (this.verdict !== undefined) return this.verdict;
        this.taken.push({ envelope, octets: Buffer.concat(chunks) });
        return { kind: 'accepted' as const };
      },
      abort: () => {
        this.aborted += 1;
      },
    };
  }
}

/** One account, `me@box.test` with the password `secret`; PLAIN and LOGIN, only where it is secure. */
export class FakeLogins implements Logins {
  readonly login: Login = { account: 1, address: parseAddress('me@box.test')!, credential: 7 };
  readonly revocations = new Set<() => void>();
  next: LoginOutcome | undefined;

  mechanisms({ secure }: { secure: boolean }): readonly string[] {
    return secure ? ['PLAIN', 'LOGIN'] : [];
  }

  start(mechanism: string, { secure }: { secure: boolean }): SaslExchange | undefined {
    if (!secure) return undefined;
    if (mechanism === 'PLAIN') return { step: async (response) => this.#plain(response) };
    return mechanism === 'LOGIN' ? this.#loginExchange() : undefined;
  }

  async password(user: string, password: string): Promise<LoginOutcome> {
    return this.#check(user, password);
  }

  onRevoked(_login: Login, end: () => void): () => void {
    this.revocations.add(end);
    return () => void this.revocations.delete(end);
  }

  #check(user: string, password: string): LoginOutcome {
    if (this.next !== undefined) return this.next;
    const right = user === 'me@box.test' && password === 'secret';
    return right ? { kind: 'in', login: this.login } : { kind: 'wrong' };
  }

  #plain(response: Buffer | undefined): SaslStep {
    if (response === undefined) return { kind: 'challenge', data: Buffer.alloc(0) };
    const parts = response.toString().split('\0');
    if (parts.length !== 3) return { kind: 'malformed', why: 'PLAIN is authzid, user and password' };
    return this.#check(parts[1]!, parts[2]!);
  }

  #loginExchange(): SaslExchange {
    let user: string | undefined;
    return {
      step: async (response) => {
        if (response === undefined) return { kind: 'challenge', data: Buffer.from('Username:') };
        if (user !== undefined) return this.#check(user, response.toString());
        user = response.toString();
        return { kind: 'challenge', data: Buffer.from('Password:') };
      },
    };
  }
}

/** Ports of {@link fakeReceiver}, by what listens there. */
export interface Ports {
  mx: number;
  submission: number;
  submissions: number;
}

export interface FakeReceiver extends AsyncDisposable {
  receiver: SmtpServer;
  backend: FakeReceiverBackend;
  logins: FakeLogins;
  ports: Ports;
  /** Moves the clock of deadlines on, in ms, and sweeps. */
  pass(ms: number): void;
}

/** A receiver with all three listeners on free ports. Peers are not trusted and nothing waits, unless asked for. */
export async function fakeReceiver(options: Partial<ReceiverOptions> = {}): Promise<FakeReceiver> {
  const context = createSecureContext({ ...(await testCertificate()), minVersion: 'TLSv1.2' });
  const backend = new FakeReceiverBackend();
  const logins = new FakeLogins();
  const limits: Partial<SmtpLimits> = { bannerDelayMs: 0, recipientDelayMs: 1, closeMs: 2000, ...options.limits };
  const host = '127.0.0.1';
  let passed = 0;
  const receiver = await startSmtpServer({
    hostname: 'mx.box.test',
    listeners: [
      { service: 'mx', tls: 'starttls', host, port: 0 },
      { service: 'submission', tls: 'starttls', host, port: 0 },
      { service: 'submission', tls: 'implicit', host, port: 0 },
    ],
    backend,
    logins,
    guard: testGuard(),
    secureContext: () => context,
    exempt: () => false,
    local: false,
    maxMessageBytes: 1_000_000,
    log: quiet,
    meter: quiet,
    clock: { now: () => Date.UTC(2026, 10, 20, 10), monotonic: () => performance.now() + passed },
    ...options,
    limits,
  });
  const [mx, submission, submissions] = receiver.addresses().map(({ port }) => port);
  return {
    receiver,
    backend,
    logins,
    ports: { mx: mx!, submission: submission!, submissions: submissions! },
    pass(ms) {
      passed += ms;
      receiver.sweep();
    },
    [Symbol.asyncDispose]: () => receiver.close(),
  };
}
