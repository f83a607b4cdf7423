import type { AskedMail } from '../approvals/asked-mail.ts';
import { html, type Part } from './html.ts';
import { address, facts, moment, theirs, tag } from './parts.ts';

const LOOK = {
  scheduled: '',
  pending: 'warn',
  approved: 'ok',
  denied: 'bad',
  expired: '',
  withdrawn: '',
} as const;

const STATE = {
  scheduled: 'waits for its time',
  pending: 'waits for a person',
  approved: 'approved',
  denied: 'refused',
  expired: 'too late',
  withdrawn: 'withdrawn',
} as const;

export function stateTag(state: keyof typeof STATE): Part {
  return tag(STATE[state], LOOK[state]);
}

/** What a person has to see before deciding: everybody who gets it, why it waits, and the text as text. */
export function askedMailShown({ item, askedBy, hadRead, message }: AskedMail): Part {
  const { approval } = item;
  return html`${facts([
    ['State', [stateTag(item.state), decision(approval)]],
    ['Subject', theirs(approval.subject)],
    ['Asked for by', theirs(askedBy)],
    ['Sent as', theirs(address(item.sender))],
    ['Goes to', recipients(item.recipients)],
    ['Why it waits', reasons(approval.reasons)],
    hadRead.length > 0 && ['It had read', readMail(hadRead)],
    ['Since', moment(item.createdAt)],
    item.state === 'pending' && ['Until', moment(approval.expiresAt)],
    item.dueAt !== null && item.dueAt > item.createdAt && ['Leaves at', moment(item.dueAt)],
    message !== undefined && ['Bound to', bound(message.size, approval.sha256)],
  ])}
  ${message !== undefined && [envelope(message), text(message), attachments(message)]}`;
}

function decision({ decidedBy, decidedAt }: AskedMail['item']['approval']): Part {
  return [decidedBy !== null && ` by ${decidedBy}`, decidedAt !== null && [', ', moment(decidedAt)]];
}

/** What is decided about are these octets and no others, also those that are not shown. */
function bound(size: number, sha256: string): Part {
  return html`${size} octets, SHA-256 <code>${sha256}</code>`;
}

function recipients(all: readonly string[]): Part {
  return html`<ul class="plainlist">
    ${all.map((one) => html`<li>${theirs(address(one))}</li>`)}
  </ul>`;
}

function reasons(all: AskedMail['item']['approval']['reasons']): Part {
  return html`<ul class="plainlist">
    ${all.map(({ text: why }) => html`<li>${why}</li>`)}
  </ul>`;
}

const MOST_READ = 10;

/** By whom, as far as that is known: what it said stands in the mailbox. */
function readMail(all: AskedMail['hadRead']): Part {
  return html`<ul class="plainlist">
    ${all.slice(0, MOST_READ).map(
      ({ author, authentic, at }) =>
        html`<li>
          mail of ${author === '' ? 'somebody unnamed' : address(author)}${!authentic && ', who is not proved'}
          <span class="soft">${moment(at)}</span>
        </li>`,
    )}
    ${all.length > MOST_READ && html`<li class="soft">and ${all.length - MOST_READ} more</li>`}
  </ul>`;
}

type Message = NonNullable<AskedMail['message']>;

/** The header as its readers will see it: it may name others than those who get it. */
function envelope({ from, to, cc, subject }: Message): Part {
  return html`<section>
    <h2>The message</h2>
    ${facts([['From', theirs(from)], ['To', theirs(to)], cc !== '' && ['Cc', theirs(cc)], ['Subject', theirs(subject)]])}
  </section>`;
}

function text({ text: written, truncated }: Message): Part {
  return html`<section>
    <h2>Text</h2>
    ${
      written === ''
        ? html`<p class="soft">There is no text in it.</p>`
        : html`<pre class="copy fold" tabindex="0" dir="auto">${written}</pre>`
    }
    ${truncated && html`<p class="small soft">It goes on: these are the first ${written.length} characters. Its SHA-256 stands above.</p>`}
  </section>`;
}

function attachments({ attachments: all, more }: Message): Part {
  return (
    all.length > 0 &&
    html`<section>
      <h2>Attachments</h2>
      <ul>
        ${all.map(({ filename, contentType }) => html`<li>${theirs(filename)} <span class="soft">${theirs(contentType)}</span></li>`)}
        ${more > 0 && html`<li class="soft">and ${more} more</li>`}
      </ul>
    </section>`
  );
}
