import { reloadThread } from '../actions.ts';
import type { FullEmail, MailIdentity } from '../jmap-types.ts';
import { methods, throwRefusals } from '../jmap.ts';
import type { PlainKey } from '../message-types.ts';
import { hideNotice, showNotice } from '../notices.ts';
import { cancelSubmission, createdId, draftsFolder, submitEmail, UNDO_MS } from '../submission.ts';
import { dropLoadedThreads, refreshList } from '../thread-list.ts';
import { t } from '../translate.ts';
import type { CalendarEvent } from './event.ts';
import { ANSWER_KEYWORDS } from './invitation-state.ts';
import { type Participation, invitationReply } from './reply.ts';

/** An answer to the event of an email, by the identity that was invited. */
export interface EventAnswer {
  email: FullEmail;
  event: CalendarEvent;
  identity: MailIdentity;
  answer: Participation;
}

/** Texts of the mail that answers, and of the notice. */
const TEXTS = {
  ACCEPTED: { subject: 'invite.subject-accepted', text: 'invite.text-accepted', done: 'invite.did-accept' },
  TENTATIVE: { subject: 'invite.subject-tentative', text: 'invite.text-tentative', done: 'invite.did-maybe' },
  DECLINED: { subject: 'invite.subject-declined', text: 'invite.text-declined', done: 'invite.did-decline' },
} as const;

/** Sends the answer to the organizer by iMIP (RFC 6047). It leaves after ten seconds and can be taken back until then. */
export async function answerInvitation(given: EventAnswer): Promise<void> {
  const { email, event, identity, answer } = given;
  const organizer = event.organizer?.email ?? '';
  const emailId = await createReply(given, organizer);
  const submission = await submitEmail({ emailId, identity, recipients: [organizer] }).catch(async (error: unknown) => {
    await methods(['Email/set', { destroy: [emailId] }]);
    throw error;
  });
  await mark(email, answerPatch(answer));
  showNotice(
    t(TEXTS[answer].done, { organizer: event.organizer?.name || organizer }),
    () => takeBack(given, submission, emailId),
    UNDO_MS,
  );
}

async function createReply({ email, event, identity, answer }: EventAnswer, organizer: string): Promise<string> {
  const calendar = await invitationReply(event, identity, answer, Date.now());
  const { subject, text } = TEXTS[answer];
  const summary = event.summary === '' ? t('event.no-title') : event.summary;
  const name = identity.name === '' ? identity.email : identity.name;
  const draft = {
    mailboxIds: { [draftsFolder()]: true },
    keywords: { $draft: true, $seen: true },
    from: [{ name: identity.name === '' ? null : identity.name, email: identity.email }],
    to: [{ name: null, email: organizer }],
    subject: t(subject, { summary }),
    ...(email.messageId !== null && { inReplyTo: email.messageId }),
    references: [...(email.references ?? []), ...(email.messageId ?? [])].slice(-50),
    bodyStructure: {
      type: 'multipart/alternative',
      subParts: [
        { partId: 'text', type: 'text/plain' },
        // RFC 6047 2.4: the method and the component are parameters.
        { partId: 'calendar', 'header:Content-Type': 'text/calendar; method=REPLY; component=VEVENT; charset=utf-8' },
      ],
    },
    bodyValues: { text: { value: `${t(text, { name, summary })}\n` }, calendar: { value: calendar } },
  };
  const [result] = await methods(['Email/set', { create: { reply: draft } }]);
  throwRefusals(result ?? {}, t('error.not-answered'));
  return createdId(result, 'reply') ?? '';
}

type KeywordPatch = Readonly<Record<string, true | null>>;

function answerPatch(answer: Participation): KeywordPatch {
  const none = Object.values(ANSWER_KEYWORDS).map((keyword) => [`keywords/${keyword}`, null] as const);
  return { ...Object.fromEntries(none), [`keywords/${ANSWER_KEYWORDS[answer]}`]: true, 'keywords/$answered': true };
}

async function mark({ id }: FullEmail, patch: KeywordPatch): Promise<void> {
  const [result] = await methods(['Email/set', { update: { [id]: patch } }]);
  throwRefusals(result ?? {}, t('error.not-changed'));
  dropLoadedThreads();
  await Promise.all([refreshList(), reloadThread()]);
}

/** Cancels the answer; the keywords are those of before. */
async function takeBack({ email, answer }: EventAnswer, submission: string, emailId: string): Promise<void> {
  await cancelSubmission(submission, emailId);
  await methods(['Email/set', { destroy: [emailId] }]);
  const before = Object.keys(answerPatch(answer)).map((path) => {
    const keyword = path.slice('keywords/'.length);
    return [path, email.keywords[keyword] === true ? true : null] as const;
  });
  await mark(email, Object.fromEntries(before));
  hideNotice();
}

/** Texts of the buttons. */
export const ANSWERS: readonly (readonly [answer: Participation, label: PlainKey, done: PlainKey])[] = [
  ['ACCEPTED', 'invite.accept', 'invite.you-accepted'],
  ['TENTATIVE', 'invite.maybe', 'invite.you-tentative'],
  ['DECLINED', 'invite.decline', 'invite.you-declined'],
];
