import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';

const TIMEOUT_MS = 15_000;
const OUTSIDE = 'doctor@relay-test.example';

/** Lines of one dialog with an SMTP server, up to the answer to the last command. */
async function smtpDialog(host: string, port: number, commands: readonly string[]): Promise<string[]> {
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
}

/** Tries to pass mail of a stranger to a stranger through this server, which has to refuse it. Nothing is sent. */
export async function checkOpenRelay(port: number | undefined): Promise<HealthCheck> {
  if (port === undefined) return unhealthy('open relay', 'off', 'The SMTP listener is off.', '');
  try {
    const commands = ['EHLO doctor.invalid', `MAIL FROM:<${OUTSIDE}>`, `RCPT TO:<${OUTSIDE}>`, 'QUIT'];
    const [greeting = '', , mail = '', recipient = ''] = await smtpDialog('127.0.0.1', port, commands);
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

/** Connects to port 25 of a host that the operator names: many networks block it. Nothing is sent. */
export async function checkOutboundPort(peer: string, port: number): Promise<HealthCheck> {
  const fix = 'Ask the provider of this machine to open port 25 outwards, or set MAILSTEAD_SMARTHOST.';
  try {
    const [greeting = ''] = await smtpDialog(peer, port, ['QUIT']);
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
