import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import ipaddr from 'ipaddr.js';
import { text } from 'node:stream/consumers';

/**
 * Addresses of a small internet. They are public by their range, so that a server treats them as those of others; in a
 * network namespace of its own nothing sent to them leaves the machine.
 */
export const AT = {
  resolver: '127.0.0.1',
  root: '44.0.0.1',
  registry: '44.0.0.2',
  provider: '44.0.0.3',
  box: '44.0.0.10',
  box6: '2a00:aaaa::10',
  dane: '44.0.0.20',
  sts: '44.0.0.30',
} as const;

/** Name of the PTR record of an address. RFC 1035 3.5, RFC 3596 2.5. */
export function reverseName(text: string): string {
  const address = ipaddr.parse(text);
  const octets = address.toByteArray();
  if (address.kind() === 'ipv4') return `${octets.toReversed().join('.')}.in-addr.arpa`;
  const digits = Buffer.from(octets).toString('hex');
  return `${digits.split('').toReversed().join('.')}.ip6.arpa`;
}

/**
 * Gives the loopback device of a new namespace the addresses, and becomes the command. The whole network of the box is
 * local to that device, but only the box's own addresses are those of the machine.
 */
const SCRIPT = `ip link set lo up || exit 1
for address in ${AT.box}/24 ${AT.box6}/128; do ip address add "$address" dev lo || exit 1; done
exec "$@"`;

/** Runs a command in a network namespace of its own, which takes root. Standard error is part of the output. */
export async function runInNamespace(command: readonly string[]): Promise<{ status: number | null; output: string }> {
  // With process ids of their own, so that nothing stays behind when the command ends.
  const spaces = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const child = spawn('unshare', [...spaces, 'sh', '-c', SCRIPT, 'sh', ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = (await ended) as [number | null];
  return { status, output: out + errors };
}

/** Another server connects to port 25 of the box, which is what the doctor takes as proof. */
export async function connectFromOutside(): Promise<void> {
  const socket = connect({ host: AT.box, port: 25, localAddress: AT.dane });
  await once(socket, 'data');
  socket.destroy();
}
