import type { listQuarantine } from '../../operations/quarantine/list.ts';
import { html, type HtmlPart } from '../html.ts';
import { type PageAction, operationAction, actionButton } from '../page.ts';
import { cursorOf, emptyState, timestamp, nextPage, table, tag } from '../components.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import { type OutputOf, readOperation, type Visit } from '../visit.ts';

type QuarantinedMessage = OutputOf<typeof listQuarantine>['items'][number];

export const quarantine = mailboxPage('quarantine', {
  notices: {
    released: 'Message released. Programs with access to this mailbox can read it.',
    withheld: 'Message quarantined. Programs can no longer read it.',
  },
  actions: {
    release: decides(true),
    withhold: decides(false),
  },
  async show(visit, { params, query }) {
    const mailbox = params['id'] ?? '';
    const listed = await readOperation<typeof listQuarantine>(visit, 'list_quarantine', {
      mailbox,
      ...cursorOf(query),
    });
    if (listed === undefined) return undefined;
    const base = `${visit.base}/mailboxes/${mailbox}`;
    return html`<section>
      <h2>Quarantine</h2>
      <p>
        Messages whose content is hidden from agents and programs: they contain much hidden text, as prompt injections
        do, or were rejected. Mail programs still show them.
      </p>
      ${listed.items.length === 0 ? NONE : listOf(visit, listed.items)}
      ${nextPage(`${base}/quarantine`, listed.nextCursor)}
    </section>`;
  },
});

function decides(release: boolean): PageAction {
  return operationAction(
    'release_message',
    () => ({ kind: 'done', notice: release ? 'released' : 'withheld' }),
    (fields, params) => ({ mailbox: params['id'], messageId: fields.text('messageId'), release }),
  );
}

const NONE = emptyState('No quarantined messages', 'Older messages may be on the next page.');

const STATES: Readonly<Record<QuarantinedMessage['state'], HtmlPart>> = {
  withheld: tag('Quarantined', 'warn'),
  requested: tag('Requested', 'bad'),
  released: tag('Released'),
  people_only: tag('People only', 'warn'),
};

function listOf(visit: Visit, items: readonly QuarantinedMessage[]): HtmlPart {
  return table(
    'Quarantined messages',
    ['From', 'Subject', 'Received', 'Status', ''],
    items.map((one) => [
      one.from?.address ?? '',
      one.untrusted.subject,
      timestamp(one.receivedAt),
      html`${STATES[one.state]}${one.untrusted.reason !== '' && html`<br /><span class="small soft">${one.untrusted.reason}</span>`}`,
      choiceOf(visit, one),
    ]),
  );
}

function choiceOf(visit: Visit, { id: messageId, state }: QuarantinedMessage): HtmlPart {
  switch (state) {
    case 'people_only':
      return html`<span class="small soft">${PEOPLE_ONLY}</span>`;
    case 'released':
      return actionButton(visit, 'withhold', 'Quarantine', { messageId });
    case 'withheld':
    case 'requested':
      return actionButton(visit, 'release', 'Release', { messageId });
  }
}

const PEOPLE_ONLY = 'Contains a link that signs in or approves as you. It is never shown to programs.';
