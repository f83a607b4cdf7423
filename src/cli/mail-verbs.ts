import { formatBytes, formatTable, ago } from './output.ts';
import { operationCall, type VerbInput, withoutArguments, oneArgument, type Verb } from './verb.ts';

interface Secret {
  address: string;
  password: string;
}

/** Selection: `all`, ids, `domain:NAME` for a destination, or `message:ID`. */
function ids(args: readonly string[]): object | undefined {
  const [only = '', ...more] = args;
  if (only === 'all' && more.length === 0) return { ids: 'all' };
  const [, kind, name] = /^(domain|message):(.+)$/.exec(only) ?? [];
  if (kind !== undefined && more.length === 0) return { ids: 'all', [kind === 'domain' ? 'domain' : 'trace']: name };
  const numbers = args.map(Number);
  return numbers.length > 0 && numbers.every((id) => Number.isInteger(id) && id > 0) ? { ids: numbers } : undefined;
}

/** Route first, then a selection. */
function reroute([route, ...rest]: readonly string[]): object | undefined {
  const given = ids(rest);
  return route === undefined || given === undefined ? undefined : { ...given, route };
}

function address(args: readonly string[], given: VerbInput): object | undefined {
  if (args.length !== 1) return undefined;
  // Never as an argument: all users of the machine can see those.
  const password = given['password-stdin'] === true ? given.stdin().replace(/\r?\n$/, '') : undefined;
  return { address: args[0], ...(password !== undefined && { password }) };
}

const secret = ({ address: to, password }: Secret): string => `${to}\npassword  ${password}   (shown once)`;
const changed = ({ changed: n, more }: { changed: number; more: boolean }): string =>
  `${n} changed${more ? '; more remain, run again' : ''}`;
const WHICH = 'ID...|all|domain:NAME|message:ID';

/** Commands for status, domains, mailboxes and the queue of the whole server. */
export const MAIL_VERBS: readonly Verb[] = [
  {
    words: 'status',
    usage: '',
    about: 'Show version, uptime, queue and health',
    parse: operationCall('get_status', withoutArguments),
    show: showStatus,
  },
  {
    words: 'doctor',
    usage: '[MAIL-SERVER]',
    about: 'Check server, DNS and settings; with a MAIL-SERVER of others also port 25 outwards',
    parse: operationCall('run_doctor', ([peer, ...more]) =>
      more.length > 0 ? undefined : { ...(peer !== undefined && { peer }) },
    ),
    show: showDoctor,
    succeeded: ({ ok }: { ok: boolean }) => ok,
  },
  {
    words: 'domain add',
    usage: 'DOMAIN',
    about: 'Add a domain; prints the DNS records to publish',
    parse: operationCall('add_domain', oneArgument('domain')),
    show: ({ domain, records }: { domain: string; records: { type: string; name: string; value: string }[] }) =>
      `${domain} is added. Publish these records:\n\n${formatTable(
        ['type', 'name', 'value'],
        records.map(({ type, name, value }) => [type, name, value]),
      )}`,
  },
  {
    words: 'domain list',
    usage: '',
    about: 'List the domains of this server',
    parse: operationCall('list_domains', withoutArguments),
    show: ({ domains }: { domains: { domain: string; verified: boolean }[] }) =>
      formatTable(
        ['domain', 'verified'],
        domains.map(({ domain, verified }) => [domain, verified ? 'yes' : 'no']),
      ),
  },
  {
    words: 'mailbox add',
    usage: 'ADDRESS [--password-stdin]',
    about: 'Create a mailbox; prints its password once',
    options: ['password-stdin'],
    parse: operationCall('add_mailbox', address),
    show: secret,
  },
  {
    words: 'mailbox list',
    usage: '',
    about: 'List the mailboxes of this server',
    parse: operationCall('list_box_mailboxes', withoutArguments),
    show: ({ mailboxes }: { mailboxes: { address: string; messages: number; bytes: number }[] }) =>
      formatTable(
        ['address', 'messages', 'size'],
        mailboxes.map((box) => [box.address, String(box.messages), formatBytes(box.bytes)]),
      ),
  },
  {
    words: 'mailbox password',
    usage: 'ADDRESS [--password-stdin]',
    about: 'Change the password of a mailbox; closes its sessions',
    options: ['password-stdin'],
    parse: operationCall('change_mailbox_password', address),
    show: secret,
  },
  {
    words: 'queue list',
    usage: '',
    about: 'List queued mail, with the reason',
    parse: operationCall('list_box_queue', withoutArguments),
    show: showQueue,
  },
  {
    words: 'queue retry',
    usage: WHICH,
    about: 'Retry now',
    parse: operationCall('retry_box_queue', ids),
    show: changed,
  },
  {
    words: 'queue release',
    usage: WHICH,
    about: 'Release held mail',
    parse: operationCall('release_box_queue', ids),
    show: changed,
  },
  {
    words: 'queue cancel',
    usage: WHICH,
    about: 'Delete from the queue; no bounce is sent',
    parse: operationCall('cancel_box_queue', ids),
    show: changed,
  },
  {
    words: 'queue hold',
    usage: WHICH,
    about: 'Hold until released',
    parse: operationCall('hold_box_queue', ids),
    show: changed,
  },
  {
    words: 'queue route',
    usage: `automatic|direct|smarthost|ROUTE ${WHICH}`,
    about: 'Send over another route, now',
    parse: operationCall('reroute_box_queue', reroute),
    show: changed,
  },
  {
    words: 'trace',
    usage: 'ID',
    about: 'Show the timeline of a message, by the id in the log and the SMTP reply',
    parse: operationCall('trace_box_message', oneArgument('trace')),
    show: showTrace,
  },
];

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
  node: { name: string; leads: boolean } | null;
  unreadableMessages: number;
  smarthost: { host: string; port: number; use: string } | null;
  refusedLogins: { host: string; why: string; since: number }[];
}): string {
  return [
    `Mailstead ${status.version}, ${status.mode} mode, ${status.hostname}, pid ${status.pid}, up ${status.uptimeSeconds} s`,
    ...(status.node === null ? [] : [`node       ${status.node.name}${status.node.leads ? ', leads' : ''}`]),
    `memory     ${formatBytes(status.memoryBytes)}`,
    `hosted     ${counted(status.domains, 'domain', 'domains')}, ${counted(status.mailboxes, 'mailbox', 'mailboxes')}`,
    `queue      ${status.queue.due} queued, ${status.queue.held} held`,
    `ports      ${Object.entries(status.listeners)
      .map(([name, port]) => `${name} ${port}`)
      .join(', ')}`,
    ...(status.smarthost === null
      ? []
      : [`smarthost  ${status.smarthost.host}:${status.smarthost.port}, ${status.smarthost.use}`]),
    ...status.refusedLogins.map(({ host, why, since }) => `smarthost  ${host}, since ${ago(since)}: ${why}`),
    ...(status.unreadableMessages === 0
      ? []
      : [
          `storage    ${counted(status.unreadableMessages, 'message is', 'messages are')} damaged: see the log, restore a backup`,
        ]),
    `health     ${status.failing.length === 0 ? 'ready' : `failing: ${status.failing.join(', ')}`}`,
  ].join('\n');
}

const SIGNS: Readonly<Record<string, string>> = {
  ok: 'ok     ',
  warning: 'WARNING',
  failed: 'FAILED ',
  unknown: 'unknown',
  off: 'off    ',
};

/** Begin of a further line of a check. */
const INDENT = '\n         ';

interface DoctorLine {
  name: string;
  status: string;
  why: string;
  impact: string;
  fix: string;
}

function showDoctor({ checks }: { checks: DoctorLine[] }): string {
  return checks
    .map(({ name, status, why, impact, fix }) => {
      const line = `${SIGNS[status]}  ${name}: ${why}`;
      if (status === 'ok') return line + (fix === '' ? '' : `${INDENT}${fix}`);
      return `${line}${INDENT}Why it matters: ${impact}${INDENT}What to do: ${fix}`;
    })
    .join('\n');
}

function showQueue({ queue }: { queue: Queued[] }): string {
  if (queue.length === 0) return 'The queue is empty.';
  return formatTable(
    ['id', 'from', 'to', 'age', 'attempts', 'reason'],
    queue.map((row) => [
      String(row.id),
      row.from === '' ? '<>' : row.from,
      row.to,
      ago(row.queuedAt),
      String(row.attempts),
      explain(row.explanation, row.lastText ?? undefined),
    ]),
  );
}

function showTrace({
  timeline,
}: {
  timeline: { at: string; event: string; recipient?: string; explanation: string; untrusted?: { text: string } }[];
}): string {
  return formatTable(
    ['time', 'event', 'recipient', 'what happened'],
    timeline.map(({ at, event, recipient = '', explanation, untrusted }) => [
      at,
      event,
      recipient,
      explain(explanation, untrusted?.text),
    ]),
  );
}

/** Our explanation, then the remote server's text. */
function explain(explanation: string, text: string | undefined): string {
  return text === undefined ? explanation : `${explanation} Remote server: ${text}`;
}

function counted(count: number, singular: string, plural: string): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
