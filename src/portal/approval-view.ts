import type { ApprovalMail } from '../approvals/approval-mail.ts';
import { html, type HtmlPart } from './html.ts';
import { address, descriptionList, timestamp, quotedText, tag } from './components.ts';
import { ENGLISH, type Translator } from './translator.ts';

const LOOK = {
  scheduled: '',
  pending: 'warn',
  approved: 'ok',
  denied: 'bad',
  expired: '',
  withdrawn: '',
} as const;

export function stateTag(state: keyof typeof LOOK, t: Translator = ENGLISH): HtmlPart {
  return tag(t(`approval.${state}`), LOOK[state]);
}

/** Everything that the approver must see before deciding: all envelope recipients, the reasons, and the plain text. */
export function approvalDetails(
  { item, requestedBy: askedBy, hadRead, message }: ApprovalMail,
  t: Translator = ENGLISH,
): HtmlPart {
  const { approval } = item;
  return html`${descriptionList([
    [t('approval.state'), [stateTag(item.state, t), decision(approval, t)]],
    [t('approval.subject'), quotedText(approval.subject)],
    [t('approval.requested-by'), quotedText(askedBy)],
    [t('approval.sent-as'), quotedText(address(item.sender))],
    [t('approval.recipients'), recipients(item.recipients)],
    [t('approval.reasons'), reasons(approval.reasons, t)],
    hadRead.length > 0 && [t('approval.read-before'), readMail(hadRead, t)],
    [t('approval.requested'), timestamp(item.createdAt, t)],
    item.state === 'pending' && [t('approval.expires'), timestamp(approval.expiresAt, t)],
    item.dueAt !== null && item.dueAt > item.createdAt && [t('approval.scheduled-for'), timestamp(item.dueAt, t)],
    message !== undefined && [t('approval.content'), contentHash(message.size, approval.sha256, t)],
  ])}
  ${message !== undefined && [envelope(message, t), text(message, t), attachments(message, t)]}`;
}

function decision({ decidedBy, decidedAt }: ApprovalMail['item']['approval'], t: Translator): HtmlPart {
  return [
    decidedBy !== null && ` ${t('approval.by', { name: decidedBy })}`,
    decidedAt !== null && [', ', timestamp(decidedAt, t)],
  ];
}

/** The decision covers exactly these octets, including the parts that are not shown. */
function contentHash(size: number, sha256: string, t: Translator): HtmlPart {
  return html`${t('approval.octets', { count: String(size) })}, SHA-256 <code>${sha256}</code>`;
}

function recipients(all: readonly string[]): HtmlPart {
  return html`<ul class="plainlist">
    ${all.map((one) => html`<li>${quotedText(address(one))}</li>`)}
  </ul>`;
}

function reasons(all: ApprovalMail['item']['approval']['reasons'], t: Translator): HtmlPart {
  return html`<ul class="plainlist">
    ${all.map(({ text: why }) => html`<li>${t.english(why)}</li>`)}
  </ul>`;
}

const MAX_READ_SHOWN = 10;

/** Authors of the mail that the agent had read; the content is in the mailbox. */
function readMail(all: ApprovalMail['hadRead'], t: Translator): HtmlPart {
  return html`<ul class="plainlist">
    ${all.slice(0, MAX_READ_SHOWN).map(
      ({ author, authentic, at }) =>
        html`<li>
          ${t.rich(authentic ? 'approval.mail-from' : 'approval.mail-from-unauthenticated', { author: author === '' ? t('approval.unnamed') : address(author) })}
          <span class="soft">${timestamp(at, t)}</span>
        </li>`,
    )}
    ${all.length > MAX_READ_SHOWN && html`<li class="soft">${t('approval.and-more', { count: all.length - MAX_READ_SHOWN })}</li>`}
  </ul>`;
}

type Message = NonNullable<ApprovalMail['message']>;

/** The header fields as recipients see them. They may differ from the envelope. */
function envelope({ from, to, cc, subject }: Message, t: Translator): HtmlPart {
  return html`<section>
    <h2>${t('approval.message')}</h2>
    ${descriptionList([[t('approval.from'), quotedText(from)], [t('approval.to'), quotedText(to)], cc !== '' && ['Cc', quotedText(cc)], [t('approval.subject'), quotedText(subject)]])}
  </section>`;
}

function text({ text: written, truncated }: Message, t: Translator): HtmlPart {
  return html`<section>
    <h2>${t('approval.text')}</h2>
    ${
      written === ''
        ? html`<p class="soft">${t('approval.no-text')}</p>`
        : html`<pre class="copy fold" tabindex="0" dir="auto">${written}</pre>`
    }
    ${truncated && html`<p class="small soft">${t('approval.truncated', { count: String(written.length) })}</p>`}
  </section>`;
}

function attachments({ attachments: all, more }: Message, t: Translator): HtmlPart {
  return (
    all.length > 0 &&
    html`<section>
      <h2>${t('approval.attachments')}</h2>
      <ul>
        ${all.map(({ filename, contentType }) => html`<li>${quotedText(filename)} <span class="soft">${quotedText(contentType)}</span></li>`)}
        ${more > 0 && html`<li class="soft">${t('approval.and-more', { count: more })}</li>`}
      </ul>
    </section>`
  );
}
