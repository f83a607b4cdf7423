import type { ApprovalMail } from '../approvals/approval-mail.ts';
import { html, type HtmlPart } from './html.ts';
import { address, descriptionList, timestamp, quotedText, tag } from './components.ts';

const LOOK = {
  scheduled: '',
  pending: 'warn',
  approved: 'ok',
  denied: 'bad',
  expired: '',
  withdrawn: '',
} as const;

const STATE = {
  scheduled: 'Scheduled',
  pending: 'Pending',
  approved: 'Approved',
  denied: 'Rejected',
  expired: 'Expired',
  withdrawn: 'Withdrawn',
} as const;

export function stateTag(state: keyof typeof STATE): HtmlPart {
  return tag(STATE[state], LOOK[state]);
}

/** Everything that the approver must see before deciding: all envelope recipients, the reasons, and the plain text. */
export function approvalDetails({ item, requestedBy: askedBy, hadRead, message }: ApprovalMail): HtmlPart {
  const { approval } = item;
  return html`${descriptionList([
    ['State', [stateTag(item.state), decision(approval)]],
    ['Subject', quotedText(approval.subject)],
    ['Requested by', quotedText(askedBy)],
    ['Sent as', quotedText(address(item.sender))],
    ['Recipients', recipients(item.recipients)],
    ['Reasons', reasons(approval.reasons)],
    hadRead.length > 0 && ['Read before', readMail(hadRead)],
    ['Requested', timestamp(item.createdAt)],
    item.state === 'pending' && ['Expires', timestamp(approval.expiresAt)],
    item.dueAt !== null && item.dueAt > item.createdAt && ['Scheduled for', timestamp(item.dueAt)],
    message !== undefined && ['Content', contentHash(message.size, approval.sha256)],
  ])}
  ${message !== undefined && [envelope(message), text(message), attachments(message)]}`;
}

function decision({ decidedBy, decidedAt }: ApprovalMail['item']['approval']): HtmlPart {
  return [decidedBy !== null && ` by ${decidedBy}`, decidedAt !== null && [', ', timestamp(decidedAt)]];
}

/** The decision covers exactly these octets, including the parts that are not shown. */
function contentHash(size: number, sha256: string): HtmlPart {
  return html`${size} octets, SHA-256 <code>${sha256}</code>`;
}

function recipients(all: readonly string[]): HtmlPart {
  return html`<ul class="plainlist">
    ${all.map((one) => html`<li>${quotedText(address(one))}</li>`)}
  </ul>`;
}

function reasons(all: ApprovalMail['item']['approval']['reasons']): HtmlPart {
  return html`<ul class="plainlist">
    ${all.map(({ text: why }) => html`<li>${why}</li>`)}
  </ul>`;
}

const MAX_READ_SHOWN = 10;

/** Authors of the mail that the agent had read; the content is in the mailbox. */
function readMail(all: ApprovalMail['hadRead']): HtmlPart {
  return html`<ul class="plainlist">
    ${all.slice(0, MAX_READ_SHOWN).map(
      ({ author, authentic, at }) =>
        html`<li>
          mail from ${author === '' ? 'an unnamed sender' : address(author)}${!authentic && ' (not authenticated)'}
          <span class="soft">${timestamp(at)}</span>
        </li>`,
    )}
    ${all.length > MAX_READ_SHOWN && html`<li class="soft">and ${all.length - MAX_READ_SHOWN} more</li>`}
  </ul>`;
}

type Message = NonNullable<ApprovalMail['message']>;

/** The header fields as recipients see them. They may differ from the envelope. */
function envelope({ from, to, cc, subject }: Message): HtmlPart {
  return html`<section>
    <h2>The message</h2>
    ${descriptionList([['From', quotedText(from)], ['To', quotedText(to)], cc !== '' && ['Cc', quotedText(cc)], ['Subject', quotedText(subject)]])}
  </section>`;
}

function text({ text: written, truncated }: Message): HtmlPart {
  return html`<section>
    <h2>Text</h2>
    ${
      written === ''
        ? html`<p class="soft">The message has no text.</p>`
        : html`<pre class="copy fold" tabindex="0" dir="auto">${written}</pre>`
    }
    ${truncated && html`<p class="small soft">Truncated to the first ${written.length} characters. The SHA-256 above covers the whole message.</p>`}
  </section>`;
}

function attachments({ attachments: all, more }: Message): HtmlPart {
  return (
    all.length > 0 &&
    html`<section>
      <h2>Attachments</h2>
      <ul>
        ${all.map(({ filename, contentType }) => html`<li>${quotedText(filename)} <span class="soft">${quotedText(contentType)}</span></li>`)}
        ${more > 0 && html`<li class="soft">and ${more} more</li>`}
      </ul>
    </section>`
  );
}
