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

/** Tries to pass mail of a stranger to a stranger through this server, which has to refuse it. Nothing is sent. */
export async function checkOpenRelay(
  port: number | undefined,
  dialog = smtpDialog,
  listen: readonly string[] = [],
): Promise<HealthCheck> {
  if (port === undefined) return unhealthy('open relay', 'off', 'The SMTP listener is off.', '');
  try {
    const commands = ['EHLO doctor.invalid', `MAIL FROM:<${OUTSIDE}>`, `RCPT TO:<${OUTSIDE}>`, 'QUIT'];
    const [greeting = '', , mail = '', recipient = ''] = await dialog(localAddress(listen), port, commands);
    if (!greeting.startsWith('220'))
      return unhealthy('open relay', 'unknown', `Port ${port} answered: ${greeting}`, '');
    const refused = [mail, recipient].find((answer) => /^[45]/.test(answer));
    if (refused !== undefined) return healthy('open relay', `Mail of strangers to strangers is refused: ${refused}`);
    const fix = 'Stop the server and report this: it must never happen.';
    return unhealthy('open relay', 'failed', 'Mail of a stranger to a stranger was accepted.', fix);
  } catch (error) {
    return unhealthy('open relay', 'unknown', `The test could not run: ${(error as Error).message}.`, '');
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

/** Connects to the public addresses of this server on port 25, and checks that this server answers there. */
export async function checkInboundPort(
  { hostname, addresses }: { hostname: string; addresses: readonly string[] },
  dialog = smtpDialog,
): Promise<HealthCheck> {
  const name = 'incoming port 25';
  const results = await Promise.all(addresses.map((ip) => greetingOf(ip, dialog)));
  const foreign = results.find(({ greeting }) => greeting !== undefined && !isFrom(greeting, hostname));
  if (foreign !== undefined) {
    const why = `Another server answers on port 25 of ${foreign.ip}: ${foreign.greeting ?? ''}`;
    return unhealthy(name, 'failed', why, `Point ${hostname} to this machine, or forward port 25 to it.`);
  }
  const silent = results.find(({ greeting }) => greeting === undefined);
  if (silent === undefined && results.length > 0)
    return healthy(name, `This server answers on port 25 of ${addresses.join(', ')}.`);
  const why = `Port 25 of ${silent?.ip ?? hostname} cannot be reached from this machine${silent === undefined ? '' : `: ${silent.problem}`}.`;
  return unhealthy(name, 'unknown', why, 'Some networks do not allow this look from inside: test it from outside.');
}

/** RFC 5321 4.2: the name of the server follows the code. */
const isFrom = (greeting: string, hostname: string): boolean =>
  greeting.slice(4).split(' ', 1)[0]?.toLowerCase() === hostname;

async function greetingOf(
  ip: string,
  dialog: SmtpDialog,
): Promise<{ ip: string; greeting?: string | undefined; problem: string }> {
  try {
    const [greeting] = await dialog(ip, 25, ['QUIT']);
    return { ip, greeting, problem: 'it closed the connection' };
  } catch (error) {
    return { ip, problem: (error as Error).message };
  }
}
