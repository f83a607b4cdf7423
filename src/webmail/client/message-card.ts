import { useState } from 'preact/hooks';
import { agentName } from './agent-notes.ts';
import { openAgents } from './agents.ts';
import { Attachments } from './attachments.ts';
import { composeForward, composeReply, textOf } from './compose-state.ts';
import { addressText, fullTime, nameOf, shortTime, withoutMarks } from './format.ts';
import { AgentOfMessage } from './held-mail.ts';
import { Icon } from './icons.ts';
import type { FullEmail, MailAddress } from './jmap-types.ts';
import { blobUrl } from './jmap.ts';
import { isOwnAddress } from './mail-state.ts';
import { MessageMenu } from './message-menu.ts';
import { MessageFrame } from './message-frame.ts';
import { attempt } from './notices.ts';
import { PlainText } from './plain-text.ts';
import { PendingNote } from './scheduled.ts';
import { VerdictNote } from './verdict.ts';
import { html } from './view.ts';

interface CardProps {
  email: FullEmail;
  isOpen: boolean;
  onToggle: () => void;
}

/** One message of a thread. */
export function MessageCard({ email, isOpen, onToggle }: CardProps) {
  const [author] = email.from ?? [];
  const who = author === undefined ? 'Unknown sender' : isOwnAddress(author.email) ? 'Me' : nameOf(author);
  const agent = openAgents().written[email.id];
  return html`<article class="message ${isOpen ? 'open' : ''}" aria-label=${`Message from ${who}`}>
    <header>
      <button type="button" class="fold" aria-expanded=${isOpen} onClick=${onToggle}>
        <span class="avatar" aria-hidden="true" data-color=${colorOf(author?.email ?? '')}
          >${who.slice(0, 1).toUpperCase()}</span
        >
        <span class="who">${who}</span>
        ${agent !== undefined && html`<span class="chip agent">Agent ${agentName(agent)}</span>`}
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
    <${VerdictNote} email=${email} />
    <${MessageBody} email=${email} />
    <${Attachments} parts=${email.attachments.filter((part) => part.disposition !== 'inline' || part.cid === null)} />
    <footer class="answer">
      <button type="button" onClick=${() => void attempt(() => composeReply(email, false))}>
        <${Icon} name="reply" /> Reply
      </button>
      ${
        (email.to ?? []).length + (email.cc ?? []).length > 1 &&
        html`<button type="button" onClick=${() => void attempt(() => composeReply(email, true))}>
          <${Icon} name="replyAll" /> Reply to all
        </button>`
      }
      <button type="button" onClick=${() => void attempt(() => composeForward(email))}>
        <${Icon} name="forward" /> Forward
      </button>
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
    <summary>to ${to === '' ? 'undisclosed recipients' : to}</summary>
    <dl>
      ${line('From', email.from)} ${line('To', email.to)} ${line('Cc', email.cc)} ${line('Bcc', email.bcc)}
      ${line('Reply to', email.replyTo)}
      <div>
        <dt>Received</dt>
        <dd>${fullTime(email.receivedAt)}</dd>
      </div>
      <div>
        <dt>Source</dt>
        <dd>
          <a href=${blobUrl(email.blobId, 'message.eml', 'message/rfc822')} download="message.eml"
            >Download the whole message</a
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
  const markup = email.htmlBody
    .filter(({ type }) => type === 'text/html')
    .map(({ partId }) => email.bodyValues[partId ?? '']?.value ?? '')
    .join('\n');
  const isCut = Object.values(email.bodyValues).some((one) => one.isTruncated);
  if (markup === '' || asText) {
    return html`<${PlainText} text=${textOf(email)} /> ${isCut && CUT}
      ${asText && html`<button type="button" class="link" onClick=${() => setAsText(false)}>Show with formatting</button>`}`;
  }
  return html`${
      remote > 0 &&
      !showRemote &&
      html`<p class="bar">
        <span
          >${remote === 1 ? '1 image' : `${remote} images`} not loaded: the sender would see that you read this.</span
        >
        <button type="button" class="link" onClick=${() => setShowRemote(true)}>Show images</button>
      </p>`
    }
    <${MessageFrame}
      key=${email.id}
      markup=${markup}
      parts=${email.attachments}
      showRemote=${showRemote}
      onRemote=${setRemote}
    />
    ${isCut && CUT}
    <button type="button" class="link soft" onClick=${() => setAsText(true)}>Show as plain text</button>`;
}

const CUT = html`<p class="bar">This message is longer than web mail shows. Download it to read the rest.</p>`;
