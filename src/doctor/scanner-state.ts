import { connect } from 'node:net';
import type { Settings } from '../../config/settings.ts';
import type { ScannerState } from './server-checks.ts';

const TIMEOUT_MS = 5000;

type ConnectTarget = { path: string } | { host: string; port: number };

/** Connects to each scanner that the settings name, and disconnects. */
export function scannerStates({ rspamdUrl, clamav }: Pick<Settings, 'rspamdUrl' | 'clamav'>): Promise<ScannerState[]> {
  const targets: [string, ConnectTarget][] = [];
  if (rspamdUrl !== undefined) targets.push(['Rspamd', targetOf(new URL(rspamdUrl))]);
  if (clamav !== undefined) targets.push(['ClamAV', clamav]);
  return Promise.all(targets.map(async ([name, target]) => ({ name, problem: await connectionProblem(target) })));
}

function targetOf({ hostname, port, protocol }: URL): ConnectTarget {
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

function connectionProblem(target: ConnectTarget): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(target);
    const end = (problem: string | undefined): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(TIMEOUT_MS, () => end('no answer within 5 seconds'));
    socket.once('connect', () => end(undefined));
    socket.once('error', ({ message }) => end(message));
  });
}
