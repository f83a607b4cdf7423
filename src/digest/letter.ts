import type { Outgoing } from '../../mail/delivery/submit.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { harmless } from '../bootstrap/claim-letter.ts';
import { publicId, rowId } from '../ids.ts';
import { prepareLetter, type Post } from '../letters/letter.ts';
import type { LetterOwner } from '../letters/owners.ts';
import { REFUSALS } from '../operations/refusal.ts';
import { answerAddress, answerKey } from './answer-address.ts';
import { type AgentDay, MOST_ROWS } from './agent-queries.ts';
import type { AgentsDay } from './queries.ts';

/** A box that writes to owners, and knows where its pages are. */
export type DigestPost = Post & { baseUrl: () => string };

/** Agents that one letter names; the page has all of them. */
const MOST_NAMED = 20;
const MOST_OPERATIONS = 5;

/** A day of agents, with what each changed in mailboxes that can be undone. */
export type DayToTell = AgentsDay & { undoable: ReadonlyMap<string, number> };

/** The letter of a day to its owners. Nothing in it acts without signing in but the answer, and that only stops. */
export async function digestLetters(
  post: DigestPost,
  { organization, day }: { organization: number; day: number },
  told: DayToTell,
  owners: readonly LetterOwner[],
): Promise<Outgoing[]> {
  const { hostname } = post.settings;
  const text = digestText(post, organization, told);
  const letters = owners.map(async ({ user, email }) => {
    const to = parseAddress(email);
    const replyTo = answerAddress({ organization, user, day }, hostname, answerKey(post.secrets));
    return to && prepareLetter(post, { to, replyTo, subject: subjectOf(told), text });
  });
  return (await Promise.all(letters)).filter((one) => one !== undefined);
}

function subjectOf({ name, waiting: { mail, proposals } }: DayToTell): string {
  const waits = mail + proposals > 0 ? ', and what waits for you' : '';
  return `What the agents of ${harmless(name)} did${waits}`;
}

/** No line of it begins with the word that stops: somebody's program may quote it without a sign. */
export function digestText(
  { settings: { hostname }, baseUrl }: Pick<DigestPost, 'settings' | 'baseUrl'>,
  organization: number,
  told: DayToTell,
): string {
  const pages = `${baseUrl()}/o/${publicId('organization', organization)}`;
  const { agents } = told;
  const named = agents.slice(0, MOST_NAMED);
  return [
    'Hello,',
    '',
    `this is what agents of "${harmless(told.name)}" did by the mail server ${hostname}`,
    `from ${moment(told.since)} to ${moment(told.until)}.`,
    ...(told.stoppedAt === null ? [] : [`All of them are stopped since ${moment(told.stoppedAt)}.`]),
    '',
    ...named.flatMap((agent) => [...agentText(agent, told.undoable.get(agent.credential) ?? 0), '']),
    ...(agents.length > named.length ? [`And ${agents.length - named.length} more: ${pages}/agents`, ''] : []),
    ...(told.cut ? cutText(pages) : []),
    ...waitingText(told.waiting, pages),
    '',
    ...headText(told, pages),
    'To put an end to it all at once, answer this letter with the one word STOP:',
    'no agent of yours can do anything then, and what they sent and has not left',
    'is held. Each by itself, and how they go on afterwards:',
    `${pages}/agents`,
    '',
    'This letter comes once a day, when agents did something. That page turns it off.',
    '',
    `Mailstead on ${hostname}`,
  ].join('\r\n');
}

function agentText({ credential, name, mode, ...did }: AgentDay, undoable: number): string[] {
  const password = passwordText(credential, name);
  const who =
    password ??
    `The agent ${harmless(name)} (${credential}${mode === null ? ', it holds no more' : mode === 'normal' ? '' : `, ${mode}`})`;
  const refused = did.acts.filter(({ outcome }) => outcome in REFUSALS);
  const changed = did.acts.filter(({ outcome }) => !(outcome in REFUSALS));
  const all = undoable + did.rules;
  const lines = [
    did.sent > 0 && `sent ${count(did.sent, 'message')}${did.held > 0 ? `, ${did.held} of them to wait for you` : ''}`,
    did.read > 0 && `read ${count(did.read, 'message')} of outsiders`,
    changed.length > 0 && `asked for: ${operations(changed)}`,
    refused.length > 0 && `was refused: ${operations(refused)}`,
    did.proposals > 0 && `proposed ${count(did.proposals, 'thing')} that you have not decided about`,
    all > 0 && `made ${count(all, 'change')} to mail and rules that undo_changes takes back`,
  ];
  return [who, ...lines.filter((line) => line !== false).map((line) => `  ${line}`)];
}

/** Undefined: it is a token. */
function passwordText(credential: string, name: string): string | undefined {
  const isApp = rowId('credential', credential) !== undefined;
  if (!isApp && rowId('mailbox', credential) === undefined) return undefined;
  const of = name === '' ? 'a mailbox that is gone' : name;
  return `The ${isApp ? 'app password' : 'password'} of ${of} (${credential}), as an agent uses it`;
}

function operations(acts: AgentDay['acts']): string {
  const shown = acts.slice(0, MOST_OPERATIONS).map(({ operation, times }) => `${operation} ${times}`);
  return [...shown, ...(acts.length > MOST_OPERATIONS ? ['more'] : [])].join(', ');
}

/** Who floods the log is not to hide what it did before. */
function cutText(pages: string): string[] {
  return [
    `The audit log has more of this time than is counted here: of it, only the newest ${MOST_ROWS}`,
    'rows were. That is far more than agents do in a day. Read all of it:',
    `${pages}/audit`,
    '',
  ];
}

function waitingText({ mail, proposals }: AgentsDay['waiting'], pages: string): string[] {
  if (mail + proposals === 0) return ['Nothing waits for you.'];
  return [
    'It waits for you, when you are signed in:',
    ...(mail > 0 ? [`  ${count(mail, 'message')}: ${pages}/outbox`] : []),
    ...(proposals > 0 ? [`  ${count(proposals, 'proposal')}: ${pages}/proposals`] : []),
  ];
}

/** The newest hash of the audit log: who keeps it can prove what was in the log. */
function headText({ head }: AgentsDay, pages: string): string[] {
  if (head === undefined) return [];
  return [
    'The audit log ended with this row. Its hash binds all rows before it:',
    '',
    `  ${publicId('audit', head.audit)}`,
    `  ${Buffer.from(head.hash).toString('hex')}`,
    '',
    'Keep this letter: a log that was changed later has another hash at that row.',
    'Read the log and check it:',
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
