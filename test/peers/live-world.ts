import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';
import { Wire } from '../support/wire.ts';
import { proveAll, publishedKeys } from './proof.ts';

export const ME = 'me@box.test';
/** Messages that the sink behind `remote.test` accepts. */
export const FRIEND = 'friend@remote.test';

/** A box in live mode with `box.test` and its mailbox, the DNS that knows it, and another mail server. */
export interface LiveWorld extends AsyncDisposable {
  box: Box;
  dns: DnsServer;
  /** Takes what is for `remote.test` and keeps each octet. */
  sink: ScriptedServer;
  password: string;
  /** The records that `domain add` asked for. */
  records: { type: string; name: string; value: string }[];
}

export type SmtpEndpoint = 'smtp' | 'submission' | 'submissions';

export async function liveWorld(): Promise<LiveWorld> {
  await using stack = new AsyncDisposableStack();
  const sink = stack.use(await scriptedServer());
  const dns = stack.use(
    await dnsServer({ 'MX remote.test': ['10 mx.remote.test'], 'A mx.remote.test': [sink.host], ...everywhere(sink) }),
  );
  const settings = {
    // Most of what these suites send bounces.
    PAUSE_SENDERS: 'off',
    RESOLVERS: dns.address,
    OUTBOUND_PORT: String(sink.port),
    EXEMPT_NETWORKS: '127.0.0.0/8',
    KEY_PER_SECOND: '0',
    MAILBOX_DAILY: '0',
    MAILBOX_NEW_RECIPIENTS: '0',
  };
  const box = stack.use(await startBox({ hostname: 'mail.box.test', settings }));
  const { records } = (await box.ask('add_domain', { domain: 'box.test' })) as Pick<LiveWorld, 'records'>;
  for (const { type, name, value } of records) dns.zone[`${type} ${name}`] = [value];
  const { password } = (await box.ask('add_mailbox', { address: ME })) as { password: string };
  // Whatever a test lets out has to verify: first of all that goes, while the keys are there.
  stack.defer(async () => console.log(await proveAll(sink, publishedKeys(box.dataDir))));
  const all = stack.move();
  return { box, dns, sink, password, records, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Domains that nobody may relay to through us: were it done, the sink would see it. */
function everywhere(sink: ScriptedServer): Record<string, string[]> {
  const domains = ['ext.example', 'box.test.ext.example', 'sub.box.test', 'pending.test', 'bank.example'];
  return Object.fromEntries(
    domains.flatMap((name) => [
      [`MX ${name}`, ['10 mx.remote.test']],
      [`A ${name}`, [sink.host]],
    ]),
  );
}

/** Opens a session up to EHLO; on submission ports with TLS and login. */
export async function session({ box, password }: LiveWorld, door: SmtpEndpoint): Promise<Wire> {
  const wire = await Wire.open(box.port(door), { tls: door === 'submissions' });
  await wire.reply();
  await wire.command('EHLO client.example');
  if (door === 'submission') await startTls(wire);
  if (door === 'smtp') return wire;
  const login = Buffer.from(`\0${ME}\0${password}`).toString('base64');
  const said = await wire.command(`AUTH PLAIN ${login}`);
  if (!said.startsWith('235')) throw new Error(said);
  return wire;
}

export async function startTls(wire: Wire): Promise<void> {
  await wire.command('STARTTLS');
  await wire.encrypt();
  await wire.command('EHLO client.example');
}

/** Number of queue rows. */
export async function queued({ box }: LiveWorld): Promise<number> {
  const { queue } = (await box.ask('list_box_queue')) as { queue: unknown[] };
  return queue.length;
}
