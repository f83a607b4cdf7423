import { ago, bytes, table } from './table.ts';

interface Queued {
  id: number;
  from: string;
  to: string;
  attempts: number;
  queuedAt: number;
  nextAt: number | null;
  heldBecause: string | null;
  lastText: string | null;
  explanation: string;
  trace: string;
}

export function showStatus(status: {
  version: string;
  mode: string;
  hostname: string;
  pid: number;
  uptimeSeconds: number;
  memoryBytes: number;
  domains: number;
  mailboxes: number;
  queue: { due: number; held: number };
  listeners: Record<string, number>;
  failing: string[];
  smarthost: { host: string; port: number; use: string } | null;
  refusedLogins: { host: string; why: string; since: number }[];
}): string {
  return [
    `Mailstead ${status.version}, ${status.mode} mode, ${status.hostname}, pid ${status.pid}, up ${status.uptimeSeconds} s`,
    `memory     ${bytes(status.memoryBytes)}`,
    `hosted     ${status.domains} domains, ${status.mailboxes} mailboxes`,
    `queue      ${status.queue.due} waiting, ${status.queue.held} held`,
    `ports      ${Object.entries(status.listeners)
      .map(([name, port]) => `${name} ${port}`)
      .join(', ')}`,
    ...(status.smarthost === null
      ? []
      : [`smarthost  ${status.smarthost.host}:${status.smarthost.port}, ${status.smarthost.use}`]),
    ...status.refusedLogins.map(({ host, why, since }) => `smarthost  ${host}, since ${ago(since)}: ${why}`),
    `health     ${status.failing.length === 0 ? 'ready' : `failing: ${status.failing.join(', ')}`}`,
  ].join('\n');
}

export function showQueue({ queue }: { queue: Queued[] }): string {
  if (queue.length === 0) return 'The queue is empty.';
  return table(
    ['id', 'from', 'to', 'age', 'tries', 'why it waits'],
    queue.map((row) => [
      String(row.id),
      row.from === '' ? '<>' : row.from,
      row.to,
      ago(row.queuedAt),
      String(row.attempts),
      said(row.explanation, row.lastText ?? undefined),
    ]),
  );
}

export function showTrace({
  timeline,
}: {
  timeline: { at: string; event: string; recipient?: string; explanation: string; untrusted?: { text: string } }[];
}): string {
  return table(
    ['time', 'event', 'recipient', 'what happened'],
    timeline.map(({ at, event, recipient = '', explanation, untrusted }) => [
      at,
      event,
      recipient,
      said(explanation, untrusted?.text),
    ]),
  );
}

/** Our words, and behind them those of the other side. */
function said(explanation: string, text: string | undefined): string {
  return text === undefined ? explanation : `${explanation} They said: ${text}`;
}
