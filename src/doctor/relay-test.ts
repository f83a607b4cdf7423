import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';

const TIMEOUT_MS = 15_000;
const OUTSIDE = 'doctor@relay-test.example';

/** Runs one dialog with an SMTP server: connects, sends the commands, and returns the last line of each answer. */
export type SmtpDialog = (host: string, port: number, commands: readonly string[]) => Promise<string[]>;

/** Lines of one dialog with an SMTP server, up to the answer to the last command. */
export const smtpDialog: SmtpDialog = async (host, port, commands) => {
  const socket = connect({ host, port });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer within 15 seconds')));
  const answers: string[] = [];
  const waiting = [...commands];
  try {
    for await (const line of createInterface({ input: socket, crlfDelay: Infinity })) {
      if (/^\d{3}-/.test(line)) continue;
      answers.push(line.slice(0, 200));
      const next = waiting.shift();
      if (next === undefined) break;
      socket.write(`${next}\r\n`);
    }
    return answers;
  } finally {
    socket.destroy();
  }
};

const LISTENER_FIX = 'Set MAILSTEAD_SMTP_PORT again to receive mail from other servers.';
const OWN_FIX = 'Read the log of the server for its SMTP listener, and run the doctor again.';

/** Tries to pass mail of a stranger to a stranger through this server, which has to refuse it. Nothing is sent. */
export async function checkOpenRelay(
  port: number | undefined,
  dialog = smtpDialog,
  listen: readonly string[] = [],
): Promise<HealthCheck> {
  if (port === undefined) return unhealthy('open relay', 'off', 'The SMTP listener is off.', LISTENER_FIX);
  try {
    const commands = ['EHLO doctor.invalid', `MAIL FROM:<${OUTSIDE}>`, `RCPT TO:<${OUTSIDE}>`, 'QUIT'];
    const [greeting = '', , mail = '', recipient = ''] = await dialog(localAddress(listen), port, commands);
    if (!greeting.startsWith('220'))
      return unhealthy('open relay', 'unknown', `Port ${port} answered: ${greeting}`, OWN_FIX);
    const refused = [mail, recipient].find((answer) => /^[45]/.test(answer));
    if (refused !== undefined) return healthy('open relay', `Mail of strangers to strangers is refused: ${refused}`);
    const fix = 'Stop the server and report this: it must never happen.';
    return unhealthy('open relay', 'failed', 'Mail of a stranger to a stranger was accepted.', fix);
  } catch (error) {
    return unhealthy('open relay', 'unknown', `The test could not run: ${(error as Error).message}.`, OWN_FIX);
  }
}

/** An address at which this server listens, for a connection from this machine. */
function localAddress(listen: readonly string[]): string {
  if (listen.length === 0 || listen.includes('0.0.0.0')) return '127.0.0.1';
  const [first = ''] = listen;
  return first === '::' ? '::1' : first;
}

/** Connects to port 25 of a host that the operator names: many networks block it. Nothing is sent. */
export async function checkOutboundPort(
  { peer, address = peer, port }: { peer: string; address?: string; port: number },
  dialog = smtpDialog,
): Promise<HealthCheck> {
  const fix = 'Ask the provider of this machine to open port 25 outwards, or set MAILSTEAD_SMARTHOST.';
  try {
    const [greeting = ''] = await dialog(address, port, ['QUIT']);
    if (/^[245]\d\d/.test(greeting)) return healthy('outgoing port 25', `${peer} answered: ${greeting}`);
    return unhealthy(
      'outgoing port 25',
      'unknown',
      `${peer} answered no SMTP: ${greeting}`,
      'Name another mail server.',
    );
  } catch (error) {
    const why = `${peer} cannot be reached on port ${port}: ${(error as Error).message}.`;
    return unhealthy('outgoing port 25', 'failed', why, fix);
  }
}

/** Age of a connection that still proves that port 25 is open, ms. */
const PROOF_MS = 3 * 24 * 3_600_000;
const TEST_OUTSIDE =
  'Test it from another network, such as a mobile phone or another server: nc -v HOST 25 has to show 220. If not, ask the provider of this machine to open port 25 inwards.';

interface InboundPort {
  hostname: string;
  addresses: readonly string[];
  /** Last connection from a public address to the MX listener; undefined: none ever. */
  last: { value: string; at: number } | undefined;
  now: number;
}

/**
 * Checks port 25 by connections from outside. The own look only finds another server at the address: the system delivers
 * connections to an own address locally, past every firewall of the provider.
 */
export async function checkInboundPort(port: InboundPort, dialog = smtpDialog): Promise<HealthCheck> {
  const name = 'incoming port 25';
  const { hostname, addresses, last, now } = port;
  const results = await Promise.all(addresses.map((ip) => greetingOf(ip, dialog)));
  const foreign = results.find(({ greeting }) => greeting !== undefined && !isFrom(greeting, hostname));
  if (foreign !== undefined) {
    const why = `Another server answers on port 25 of ${foreign.ip}: ${foreign.greeting ?? ''}`;
    return unhealthy(name, 'failed', why, `Point ${hostname} to this machine, or forward port 25 to it.`);
  }
  const fix = TEST_OUTSIDE.replace('HOST', hostname);
  // A router that leads connections of this machine back to it shows the public address of this machine.
  if (last === undefined || addresses.includes(last.value))
    return unhealthy(name, 'warning', 'No public address has ever connected to port 25 of this server.', fix);
  const seen = `${last.value} connected to port 25 of this server at ${new Date(last.at).toISOString()}`;
  if (now - last.at <= PROOF_MS) return healthy(name, `${seen}.`);
  return unhealthy(name, 'unknown', `${seen}, and no public address since.`, fix);
}

/** RFC 5321 4.2: the name of the server follows the code. */
const isFrom = (greeting: string, hostname: string): boolean =>
  greeting.slice(4).split(' ', 1)[0]?.toLowerCase() === hostname;

async function greetingOf(ip: string, dialog: SmtpDialog): Promise<{ ip: string; greeting?: string | undefined }> {
  try {
    const [greeting] = await dialog(ip, 25, ['QUIT']);
    return { ip, greeting };
  } catch {
    return { ip };
  }
}
