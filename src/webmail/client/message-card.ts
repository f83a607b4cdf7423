import { useState } from 'preact/hooks';
import { agentDisplayName } from './agent-notes.ts';
import { openAgents } from './agents.ts';
import { Attachments } from './attachments.ts';
import { filesOf, hasMarkup, markupOf, mediaParts } from './body-parts.ts';
import { withoutCalendarCopy } from './calendar-part.ts';
import { composeDraft, composeForward, composeReply, composeTemplate, emailText } from './compose-state.ts';
import { addressText, fullTime, nameOf, shortTime, withoutMarks } from './format.ts';
import { AgentOfMessage } from './held-mail.ts';
import { Icon } from './icons.ts';
import { Invitation } from './invitation.ts';
import type { FullEmail, MailAddress } from './jmap-types.ts';
import { blobUrl } from './jmap.ts';
import { isOwnAddress } from './mail-state.ts';
import { MessageMenu } from './message-menu.ts';
import { MessageFrame } from './message-frame.ts';
import { attempt } from './notices.ts';
import { PlainText } from './plain-text.ts';
import { canSend } from './rights.ts';
import { PendingNote } from './scheduled.ts';
import { SnoozeNote } from './snooze.ts';
import { TEMPLATE } from './templates.ts';
import { UnsubscribeButton } from './unsubscribe.ts';
import { VerdictNote } from './verdict.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

interface CardProps {
  email: FullEmail;
  isOpen: boolean;
  onToggle: () => void;
}

/** One message of a thread. */
export function MessageCard({ email, isOpen, onToggle }: CardProps) {
  const [author] = email.from ?? [];
  const who =
    author === undefined ? t('list.unknown-sender') : isOwnAddress(author.email) ? t('reader.me') : nameOf(author);
  const agent = openAgents().written[email.id];
  return html`<article class="message ${isOpen ? 'open' : ''}" aria-label=${t('reader.message-from', { name: who })}>
    <header>
      <button type="button" class="fold" aria-expanded=${isOpen} onClick=${onToggle}>
        <span class="avatar" aria-hidden="true" data-color=${colorOf(author?.email ?? '')}
          >${who.slice(0, 1).toUpperCase()}</span
        >
        <span class="who">${who}</span>
        ${agent !== undefined && html`<span class="chip agent">${t('agent.named', { agent: agentDisplayName(agent) })}</span>`}
        ${isOpen && author !== undefined && html`<span class="email soft">${author.email}</span>`}
        ${!isOpen && html`<span class="preview">${email.preview}</span>`}
        <time datetime=${email.receivedAt} title=${fullTime(email.receivedAt)}>${shortTime(email.receivedAt)}</time>
      </button>
    </header>
    ${isOpen && html`<${MessageContent} email=${email} />`}
  </article>`;
}

/** One of eight colors by the address. */
function colorOf(text: string): number {
  let sum = 0;
  for (const char of text) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9973;
  return sum % 8;
}

function MessageContent({ email }: { email: FullEmail }) {
  return html`<div class="content">
    <${Details} email=${email} />
    <${AgentOfMessage} email=${email} />
    <${PendingNote} email=${email} />
    <${SnoozeNote} email=${email} />
    <${VerdictNote} email=${email} />
    <${Invitation} email=${email} />
    <${MessageBody} email=${email} />
    <${Attachments} parts=${withoutCalendarCopy(filesOf(email, true))} shown=${mediaParts(email)} />
    <footer class="answer">
      ${
        canSend() &&
        email.keywords[TEMPLATE] === true &&
        html`<button type="button" onClick=${() => void attempt(() => composeTemplate(email))}>
          <${Icon} name="template" /> ${t('act.use-template')}
        </button>`
      }
      ${
        canSend() &&
        email.keywords['$draft'] === true &&
        html`<button type="button" onClick=${() => void attempt(() => composeDraft(email))}>
          ${t('act.edit-draft')}
        </button>`
      }
      ${
        canSend() &&
        html`<button type="button" onClick=${() => void attempt(() => composeReply(email, false))}>
          <${Icon} name="reply" /> ${t('act.reply')}
        </button>`
      }
      ${
        canSend() &&
        (email.to ?? []).length + (email.cc ?? []).length > 1 &&
        html`<button type="button" onClick=${() => void attempt(() => composeReply(email, true))}>
          <${Icon} name="replyAll" /> ${t('act.reply-all')}
        </button>`
      }
      ${
        canSend() &&
        html`<button type="button" onClick=${() => void attempt(() => composeForward(email))}>
          <${Icon} name="forward" /> ${t('act.forward')}
        </button>`
      }
      <${UnsubscribeButton} email=${email} />
      <${MessageMenu} email=${email} />
    </footer>
  </div>`;
}

function Details({ email }: { email: FullEmail }) {
  const line = (label: string, list: MailAddress[] | null): unknown =>
    list !== null &&
    list.length > 0 &&
    html`<div>
      <dt>${label}</dt>
      <dd>${withoutMarks(list.map(addressText).join(', '))}</dd>
    </div>`;
  const to = [...(email.to ?? []), ...(email.cc ?? [])].map(nameOf).slice(0, 3).join(', ');
  return html`<details class="details">
    <summary>${to === '' ? t('reader.undisclosed') : t('reader.to', { names: to })}</summary>
    <dl>
      ${line(t('header.from'), email.from)} ${line(t('header.to'), email.to)} ${line(t('header.cc'), email.cc)}
      ${line(t('header.bcc'), email.bcc)} ${line(t('header.reply-to'), email.replyTo)}
      <div>
        <dt>${t('reader.received')}</dt>
        <dd>${fullTime(email.receivedAt)}</dd>
      </div>
      <div>
        <dt>${t('reader.source')}</dt>
        <dd>
          <a href=${blobUrl(email.blobId, 'message.eml', 'message/rfc822')} download="message.eml"
            >${t('reader.download-source')}</a
          >
        </dd>
      </div>
    </dl>
  </details>`;
}

function MessageBody({ email }: { email: FullEmail }) {
  const [showRemote, setShowRemote] = useState(false);
  const [remote, setRemote] = useState(0);
  const [asText, setAsText] = useState(false);
  const markup = hasMarkup(email) ? markupOf(email) : '';
  const isCut = Object.values(email.bodyValues).some((one) => one.isTruncated);
  if (markup === '' || asText) {
    return html`<${PlainText} text=${emailText(email)} /> ${isCut && CUT}
      ${asText && html`<button type="button" class="link" onClick=${() => setAsText(false)}>${t('reader.show-formatted')}</button>`}`;
  }
  return html`${
      remote > 0 &&
      !showRemote &&
      html`<p class="bar">
        <span>${t('reader.images', { count: remote })}</span>
        <button type="button" class="link" onClick=${() => setShowRemote(true)}>${t('reader.show-images')}</button>
      </p>`
    }
    <${MessageFrame}
      key=${email.id}
      markup=${markup}
      parts=${[...mediaParts(email), ...email.attachments]}
      showRemote=${showRemote}
      onRemote=${setRemote}
    />
    ${isCut && CUT}
    <button type="button" class="link soft" onClick=${() => setAsText(true)}>${t('reader.show-plain')}</button>`;
}

const CUT = html`<p class="bar">${t('reader.cut')}</p>`;
