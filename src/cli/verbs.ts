import { ago, bytes, table } from './table.ts';

/** One thing that the command can do: words, arguments, the operation behind them, and how the answer reads. */
export interface Verb {
  words: string;
  /** Arguments as the help shows them. */
  usage: string;
  about: string;
  operation: string;
  /** Undefined: the arguments do not fit. */
  input(args: readonly string[], password: string | undefined): object | undefined;
  /** `--password-stdin` is understood. */
  password?: true;
  show(result: never): string;
}

interface Secret {
  address: string;
  password: string;
}

interface Queued {
  id: number;
  from: string;
  to: string;
  attempts: number;
  queuedAt: number;
  nextAt: number | null;
  heldBecause: string | null;
  lastText: string | null;
  trace: string;
}

const none = (args: readonly string[]): object | undefined => (args.length === 0 ? {} : undefined);
const one =
  (name: string) =>
  (args: readonly string[]): object | undefined =>
    args.length === 1 ? { [name]: args[0] } : undefined;

function ids(args: readonly string[]): object | undefined {
  if (args.length === 1 && args[0] === 'all') return { ids: 'all' };
  const numbers = args.map(Number);
  return numbers.length > 0 && numbers.every((id) => Number.isInteger(id) && id > 0) ? { ids: numbers } : undefined;
}

const address = (args: readonly string[], password: string | undefined): object | undefined =>
  args.length === 1 ? { address: args[0], ...(password !== undefined && { password }) } : undefined;

const secret = ({ address: to, password }: Secret): string => `${to}\npassword  ${password}   (shown once)`;
const changed = ({ changed: n }: { changed: number }): string => `${n} changed`;

/** Everything that can be asked of a running server. */
export const VERBS: readonly Verb[] = [
  {
    words: 'status',
    usage: '',
    about: 'What runs, since when, and what waits',
    operation: 'get_status',
    input: none,
    show: showStatus,
  },
  {
    words: 'domain add',
    usage: 'DOMAIN',
    about: 'Host a domain; prints the DNS records to publish',
    operation: 'add_domain',
    input: one('domain'),
    show: ({ domain, records }: { domain: string; records: { type: string; name: string; value: string }[] }) =>
      `${domain} is hosted here. Publish these records:\n\n${table(
        ['type', 'name', 'value'],
        records.map(({ type, name, value }) => [type, name, value]),
      )}`,
  },
  {
    words: 'domain list',
    usage: '',
    about: 'The domains of this box',
    operation: 'list_domains',
    input: none,
    show: ({ domains }: { domains: { domain: string; verified: boolean }[] }) =>
      table(
        ['domain', 'verified'],
        domains.map(({ domain, verified }) => [domain, verified ? 'yes' : 'no']),
      ),
  },
  {
    words: 'mailbox add',
    usage: 'ADDRESS [--password-stdin]',
    about: 'Make a mailbox; prints its password once',
    operation: 'add_mailbox',
    input: address,
    password: true,
    show: secret,
  },
  {
    words: 'mailbox list',
    usage: '',
    about: 'The mailboxes of this box',
    operation: 'list_mailboxes',
    input: none,
    show: ({ mailboxes }: { mailboxes: { address: string; messages: number; bytes: number }[] }) =>
      table(
        ['address', 'messages', 'size'],
        mailboxes.map((box) => [box.address, String(box.messages), bytes(box.bytes)]),
      ),
  },
  {
    words: 'mailbox password',
    usage: 'ADDRESS [--password-stdin]',
    about: 'Give a mailbox a new password; its open sessions end',
    operation: 'change_mailbox_password',
    input: address,
    password: true,
    show: secret,
  },
  {
    words: 'queue list',
    usage: '',
    about: 'Mail that waits to leave, and why',
    operation: 'list_box_queue',
    input: none,
    show: showQueue,
  },
  {
    words: 'queue retry',
    usage: 'ID...|all',
    about: 'Try now',
    operation: 'retry_box_queue',
    input: ids,
    show: changed,
  },
  {
    words: 'queue release',
    usage: 'ID...|all',
    about: 'Let go what is held',
    operation: 'release_box_queue',
    input: ids,
    show: changed,
  },
  {
    words: 'queue cancel',
    usage: 'ID...|all',
    about: 'Never send it; no bounce is made',
    operation: 'cancel_box_queue',
    input: ids,
    show: changed,
  },
  {
    words: 'trace',
    usage: 'ID',
    about: 'What happened to a message, by the id that the log and the SMTP answer give',
    operation: 'trace_box_message',
    input: one('trace'),
    show: showTrace,
  },
];

function showStatus(status: {
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
}): string {
  return [
    `Mailstead ${status.version}, ${status.mode} mode, ${status.hostname}, pid ${status.pid}, up ${status.uptimeSeconds} s`,
    `memory     ${bytes(status.memoryBytes)}`,
    `hosted     ${status.domains} domains, ${status.mailboxes} mailboxes`,
    `queue      ${status.queue.due} waiting, ${status.queue.held} held`,
    `ports      ${Object.entries(status.listeners)
      .map(([name, port]) => `${name} ${port}`)
      .join(', ')}`,
    `health     ${status.failing.length === 0 ? 'ready' : `failing: ${status.failing.join(', ')}`}`,
  ].join('\n');
}

function showQueue({ queue }: { queue: Queued[] }): string {
  if (queue.length === 0) return 'The queue is empty.';
  return table(
    ['id', 'from', 'to', 'age', 'tries', 'why it waits'],
    queue.map((row) => [
      String(row.id),
      row.from === '' ? '<>' : row.from,
      row.to,
      ago(row.queuedAt),
      String(row.attempts),
      row.heldBecause ?? row.lastText ?? 'not tried yet',
    ]),
  );
}

function showTrace({
  events,
  waiting,
}: {
  events: { at: number; event: string; detail: Record<string, unknown> }[];
  waiting: Queued[];
}): string {
  const lines = events.map(({ at, event, detail }) => [
    new Date(at).toISOString(),
    event,
    Object.entries(detail)
      .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : String(value)}`)
      .join(' '),
  ]);
  const rest = waiting.map((row) => `still waiting: ${row.to}, ${row.heldBecause ?? row.lastText ?? 'not tried yet'}`);
  return [table(['time', 'event', 'detail'], lines), ...rest].join('\n');
}
