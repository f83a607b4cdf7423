import type { ComponentChild } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { nameOf } from '../format.ts';
import type { FullEmail, MessagePart } from '../jmap-types.ts';
import { openThread } from '../mail-state.ts';
import type { PlainKey } from '../message-types.ts';
import { attempt } from '../notices.ts';
import { canSend } from '../rights.ts';
import { LOCALE, listed, t } from '../translate.ts';
import { html } from '../view.ts';
import { ANSWERS, answerInvitation } from './answer.ts';
import { eventTime, eventTimes } from './event-times.ts';
import type { CalendarEvent, EventPerson, EventTime } from './event.ts';
import {
  type AnswerObstacle,
  answerObstacle,
  givenAnswer,
  invitedIdentity,
  type InvitationState,
  loadInvitation,
} from './invitation-state.ts';
import { recurrenceWords } from './recurrence.ts';
import type { Participation } from './reply.ts';

const MAX_NAMES = 5;

/** The event of a message: what, when, where and who asks, and the answer to it. */
export function InvitationCard({ email, part }: { email: FullEmail; part: MessagePart }) {
  const [state, setState] = useState<InvitationState>();
  const thread = openThread.value;
  useEffect(() => {
    void attempt(async () => setState(await loadInvitation(part, thread)));
  }, [part.blobId, thread.length]);
  if (state === undefined) return null;
  if (state.kind !== 'event') {
    return html`<p class="bar">${state.kind === 'too-large' ? t('invite.too-large') : t('invite.unreadable')}</p>`;
  }
  const { event, newer } = state;
  return html`<section class="invitation ${event.cancelled ? 'cancelled' : ''}" aria-label=${t('invite.invitation')}>
    ${event.start !== undefined && html`<${DayLeaf} start=${event.start} />`}
    <div class="facts">
      <p class="kind">${kindOf(event)}</p>
      <h2>${event.summary === '' ? t('event.no-title') : event.summary}</h2>
      <${Facts} event=${event} />
      <${AuthorNote} email=${email} event=${event} />
      <${AnswerBar} email=${email} event=${event} newer=${newer} />
    </div>
  </section>`;
}

/** Month and day, for the eye; the time stands beside it in words. */
function DayLeaf({ start: { kind, at } }: { start: EventTime }) {
  const zone = kind === 'instant' ? {} : { timeZone: 'UTC' };
  const part = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat(LOCALE, { ...options, ...zone }).format(at);
  return html`<div class="leaf" aria-hidden="true">
    <span>${part({ month: 'short' })}</span><strong>${part({ day: 'numeric' })}</strong
    ><span>${part({ weekday: 'short' })}</span>
  </div>`;
}

/** METHOD in words. RFC 5546 1.4. */
function kindOf({ method, sequence, cancelled, attendees }: CalendarEvent): string {
  if (cancelled) return t('invite.cancelled');
  switch (method) {
    case 'REQUEST':
      return sequence > 0 ? t('invite.update') : t('invite.invitation');
    case 'REPLY': {
      const [who] = attendees;
      return t('invite.reply', { name: who === undefined ? '' : personName(who), answer: t(answerName(who?.status)) });
    }
    case 'COUNTER':
      return t('invite.counter');
    default:
      return t('invite.event');
  }
}

function answerName(status = ''): PlainKey {
  const known: Partial<Record<string, PlainKey>> = {
    ACCEPTED: 'answer.accepted',
    TENTATIVE: 'answer.tentative',
    DECLINED: 'answer.declined',
    DELEGATED: 'answer.delegated',
  };
  return known[status] ?? 'answer.none';
}

const personName = ({ name, email }: EventPerson): string => (name === '' ? email : name);

function Facts({ event }: { event: CalendarEvent }) {
  const { start, end, location, organizer, occurrence } = event;
  const line = (label: PlainKey, text: ComponentChild): ComponentChild =>
    html`<div>
      <dt>${t(label)}</dt>
      <dd>${text}</dd>
    </div>`;
  const repeats = recurrenceWords(event);
  const who =
    organizer === undefined || organizer.name === ''
      ? organizer?.email
      : html`${organizer.name} <span class="soft">${organizer.email}</span>`;
  return html`<dl>
    ${start !== undefined && line('event.when', eventTimes(start, end))}
    ${repeats.length > 0 && line('event.repeats', repeats.join(' '))}
    ${occurrence !== undefined && line('event.repeats', t('event.only', { time: eventTime(occurrence) }))}
    ${location !== '' && line('event.where', location)} ${who !== undefined && line('event.organizer', who)}
    ${event.attendees.length > 0 && line('event.attendees', attendeeNames(event.attendees))}
  </dl>`;
}

function attendeeNames(attendees: readonly EventPerson[]): string {
  const names = listed(attendees.slice(0, MAX_NAMES).map(personName));
  const more = attendees.length - MAX_NAMES;
  return more > 0 ? t('event.and-more', { names, count: more }) : names;
}

/** Anyone can name any organizer: the answer goes there. RFC 6047 4. */
function AuthorNote({ email, event }: { email: FullEmail; event: CalendarEvent }) {
  const [author] = email.from ?? [];
  const { method, organizer } = event;
  const isOther = organizer !== undefined && author?.email.toLowerCase() !== organizer.email.toLowerCase();
  if (!isOther || author === undefined || method === 'REPLY' || method === 'COUNTER') return null;
  return html`<p class="warn">
    ${t('invite.other-author', { author: nameOf({ ...author, name: null }), organizer: organizer.email })}
  </p>`;
}

const OBSTACLES = {
  newer: 'invite.newer',
  cancelled: 'invite.cancel-note',
  'no-organizer': 'invite.no-organizer',
  own: 'invite.own',
  'not-named': 'invite.not-named',
  'in-junk': 'invite.in-junk',
} as const satisfies Record<AnswerObstacle, PlainKey>;

interface AnswerBarProps {
  email: FullEmail;
  event: CalendarEvent;
  newer: CalendarEvent | undefined;
}

function AnswerBar({ email, event, newer }: AnswerBarProps) {
  const [busy, setBusy] = useState(false);
  if (!canSend() || (event.method !== 'REQUEST' && event.method !== 'CANCEL')) return null;
  const obstacle = answerObstacle(email, event, newer);
  const identity = invitedIdentity(event);
  if (obstacle !== undefined || identity === undefined) {
    return html`<p class="soft">${t(OBSTACLES[obstacle ?? 'not-named'])}</p>`;
  }
  const given = givenAnswer(email);
  const send = (answer: Participation): void => {
    setBusy(true);
    void attempt(() => answerInvitation({ email, event, identity, answer })).finally(() => setBusy(false));
  };
  return html`<div class="answers" role="group" aria-label=${t('invite.answer')}>
      ${ANSWERS.map(
        ([answer, label]) =>
          html`<button
            type="button"
            aria-pressed=${given === answer ? 'true' : 'false'}
            aria-disabled=${busy ? 'true' : undefined}
            onClick=${() => !busy && send(answer)}
          >
            ${t(label)}
          </button>`,
      )}
    </div>
    <p class="soft" role="status">
      ${ANSWERS.flatMap(([answer, , done]) => (answer === given ? [t(done)] : [])).join('')}
      ${' '}${t('invite.as', { address: identity.email })}
    </p>`;
}
