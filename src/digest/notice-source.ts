import type { SystemNotice } from '../../mail/delivery/notice.ts';
import { type NoticeContext, composeNotice } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { notifiedOwners, type NotifiedOwner, plainName } from '../notices/owners.ts';
import { type AgentDay, MAX_AUDIT_ROWS } from './agent-queries.ts';
import { notifyDigest } from './commands.ts';
import { beginOf, digestDay } from './day.ts';
import { digestDue, type Undoable, undoableChanges, agentsDay, MAX_DIGEST_DAYS, type AgentsDay } from './queries.ts';
import { publicId, rowId } from '../core/ids.ts';
import { REFUSALS } from '../core/refusal.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { answerAddress, answerKey } from './reply-address.ts';

const PAGE = 20;

interface DueDigest {
  organization: number;
  day: number;
  changed: readonly Undoable[];
}

interface ComposedDigest {
  notices: readonly SystemNotice<'daily-digest'>[];
  /** Newest row of the audit log that the notice names. */
  audit: number | null;
  agents: number;
}

/** Sends owners each day what their agents did, if they did anything: one notice a day, whatever happens in between. */
export function dailyDigests(context: NoticeContext): NoticeSource<DueDigest, ComposedDigest> {
  const { store, clock } = context;
  /** The day being sent, and the last one that is complete. */
  let current: number | undefined;
  let sent: number | undefined;
  return {
    kind: 'daily-digest',
    everyMs: 5 * 60_000,
    // Delay after the start.
    firstMs: 5_000,
    event: { level: 'info', message: 'daily digest sent' },
    async *due() {
      const day = digestDay(clock());
      current = day;
      if (day === sent) return;
      const undoable = Map.groupBy(await undoableBefore(context, day), (one) => one.organization);
      for (let after: number | undefined = 0; after !== undefined;) {
        const page: number[] = await store.scan(digestDue, { day, now: clock(), after, limit: PAGE });
        for (const organization of page) yield { organization, day, changed: undoable.get(organization) ?? [] };
        after = page.at(-1);
      }
    },
    compose: (due) => composeDue(context, due),
    async mark({ organization, day }, { notices, audit, agents }) {
      const { notified } = await store.write(notifyDigest, { organization, day, audit, notices });
      return notified ? { organization, agents } : undefined;
    },
    finished: () => (sent = current),
  };
}

/** Changes of the days before a day that can be undone, read day by day, so that other readers get a turn. */
async function undoableBefore({ store }: NoticeContext, day: number): Promise<Undoable[]> {
  const all: Undoable[] = [];
  for (let one = day - MAX_DIGEST_DAYS; one < day; one++) {
    all.push(...(await store.scan(undoableChanges, { since: beginOf(one), until: beginOf(one + 1) })));
  }
  return all;
}

async function composeDue(
  context: NoticeContext,
  { organization, day, changed }: DueDigest,
): Promise<ComposedDigest | undefined> {
  const { store, clock } = context;
  const others = [...new Set(changed.map(({ who }) => who))];
  const found = await store.scan(agentsDay, { organization, day, now: clock(), others });
  if (found === undefined) return undefined;
  const undoable = undoableSince(found.since, changed);
  const agents = found.agents.filter((one) => isActive(one) || undoable.has(one.credential));
  if (agents.length === 0) return undefined;
  const owners = await store.read(notifiedOwners, { organization, daily: true });
  const notices = await composeDigest(context, { organization, day }, { ...found, agents, undoable }, owners);
  return { notices, audit: found.head?.audit ?? null, agents: agents.length };
}

/** Counts what each agent changed since the last digest, by its id. */
function undoableSince(last: number, changed: readonly Undoable[]): Map<string, number> {
  const unreported = changed.filter(({ since }) => since >= last);
  const byAgent = [...Map.groupBy(unreported, ({ who }) => who)];
  return new Map(byAgent.map(([who, days]) => [who, days.reduce((sum, { changes }) => sum + changes, 0)]));
}

/** Pending approvals are no activity. */
function isActive({ sent, read, acts, rules }: AgentDay): boolean {
  return sent + read + acts.length + rules > 0;
}

/** Agents that one digest names; the page lists all. */
const MAX_NAMED = 20;
const MAX_OPERATIONS = 5;

/** A day's activity, with the changes in mailboxes that can be undone. */
type DigestDay = AgentsDay & { undoable: ReadonlyMap<string, number> };

/** Composes the digest for each owner. Without signing in it allows only a reply, and that only stops agents. */
async function composeDigest(
  context: NoticeContext,
  { organization, day }: { organization: number; day: number },
  digest: DigestDay,
  owners: readonly NotifiedOwner[],
): Promise<SystemNotice<'daily-digest'>[]> {
  const { hostname } = context.settings;
  const text = digestText(context, organization, digest);
  const notices = owners.map(async ({ user, email }) => {
    const to = parseAddress(email);
    const replyTo = answerAddress({ organization, user, day }, hostname, answerKey(context.secrets));
    return to && composeNotice(context, { kind: 'daily-digest', to, replyTo, subject: subjectOf(digest), text });
  });
  return (await Promise.all(notices)).filter((one) => one !== undefined);
}

function subjectOf({ name, waiting: { mail, proposals } }: DigestDay): string {
  const waits = mail + proposals > 0 ? ', and pending approvals' : '';
  return `Daily digest: agents of ${plainName(name)}${waits}`;
}

/** No line may begin with STOP: a mail program may quote it without a mark. */
function digestText(
  { settings: { hostname }, baseUrl }: Pick<NoticeContext, 'settings' | 'baseUrl'>,
  organization: number,
  digest: DigestDay,
): string {
  const pages = `${baseUrl()}/o/${publicId('organization', organization)}`;
  const { agents } = digest;
  const named = agents.slice(0, MAX_NAMED);
  return [
    'Hello,',
    '',
    `this is what agents of "${plainName(digest.name)}" did on the mail server ${hostname}`,
    `from ${moment(digest.since)} to ${moment(digest.until)}.`,
    ...(digest.stoppedAt === null ? [] : [`All of them are stopped since ${moment(digest.stoppedAt)}.`]),
    '',
    ...named.flatMap((agent) => [...agentText(agent, digest.undoable.get(agent.credential) ?? 0), '']),
    ...(agents.length > named.length ? [`And ${agents.length - named.length} more: ${pages}/agents`, ''] : []),
    ...(digest.cut ? truncatedText(pages) : []),
    ...pendingText(digest.waiting, pages),
    '',
    ...headText(digest, pages),
    'To stop all agents at once, reply with the single word STOP. They can do nothing then,',
    'and their unsent mail is held. To stop a single agent, or to start agents again:',
    `${pages}/agents`,
    '',
    'You get this digest once a day if agents were active. You can turn it off on that page.',
    '',
    `Mailstead on ${hostname}`,
  ].join('\r\n');
}

function agentText({ credential, name, mode, ...did }: AgentDay, undoable: number): string[] {
  const password = passwordText(credential, name);
  const who =
    password ??
    `The agent ${plainName(name)} (${credential}${mode === null ? ', it holds no more' : mode === 'normal' ? '' : `, ${mode}`})`;
  const refused = did.acts.filter(({ outcome }) => outcome in REFUSALS);
  const changed = did.acts.filter(({ outcome }) => !(outcome in REFUSALS));
  const all = undoable + did.rules;
  const lines = [
    did.sent > 0 &&
      `sent ${count(did.sent, 'message')}${did.held > 0 ? `, ${did.held} of them held for approval` : ''}`,
    did.read > 0 && `read ${count(did.read, 'message')} from outsiders`,
    changed.length > 0 && `called: ${operations(changed)}`,
    refused.length > 0 && `denied: ${operations(refused)}`,
    did.proposals > 0 && `has ${count(did.proposals, 'pending proposal')}`,
    all > 0 && `made ${count(all, 'change')} to mail and rules that undo_changes can undo`,
  ];
  return [who, ...lines.filter((line) => line !== false).map((line) => `  ${line}`)];
}

/** Undefined for a token. */
function passwordText(credential: string, name: string): string | undefined {
  const isApp = rowId('credential', credential) !== undefined;
  if (!isApp && rowId('mailbox', credential) === undefined) return undefined;
  const owner = name === '' ? 'a mailbox that is gone' : name;
  return `The ${isApp ? 'app password' : 'password'} of ${owner} (${credential}), used by an agent`;
}

function operations(acts: AgentDay['acts']): string {
  const shown = acts.slice(0, MAX_OPERATIONS).map(({ operation, times }) => `${operation} ${times}`);
  return [...shown, ...(acts.length > MAX_OPERATIONS ? ['more'] : [])].join(', ');
}

/** Warns that flooding the log may hide earlier activity. */
function truncatedText(pages: string): string[] {
  return [
    `The audit log has far more entries than usual for this time; only the newest ${MAX_AUDIT_ROWS} are`,
    'counted here. Read all of it:',
    `${pages}/audit`,
    '',
  ];
}

function pendingText({ mail, proposals }: AgentsDay['waiting'], pages: string): string[] {
  if (mail + proposals === 0) return ['No approvals are pending.'];
  return [
    'Pending approvals (sign-in required):',
    ...(mail > 0 ? [`  ${count(mail, 'message')}: ${pages}/outbox`] : []),
    ...(proposals > 0 ? [`  ${count(proposals, 'proposal')}: ${pages}/proposals`] : []),
  ];
}

/** Newest hash of the audit log: storing it proves what the log contained. */
function headText({ head }: AgentsDay, pages: string): string[] {
  if (head === undefined) return [];
  return [
    'The audit log ended with this entry; its hash covers all entries before it:',
    '',
    `  ${publicId('audit', head.audit)}`,
    `  ${Buffer.from(head.hash).toString('hex')}`,
    '',
    'Keep this message: if anybody changes the log later, the hash of that entry changes.',
    'Read and verify the log:',
    `${pages}/audit?verify`,
    '',
  ];
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}

function moment(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
