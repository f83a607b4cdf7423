import type { listQuarantine } from '../../operations/quarantine/list.ts';
import { html, type HtmlPart } from '../html.ts';
import { type PageAction, operationAction, actionButton } from '../page.ts';
import { cursorOf, emptyState, timestamp, nextPage, table, tag } from '../components.ts';
import type { PlainPortalKey } from '../message-types.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, readOperation, type Visit } from '../visit.ts';

type QuarantinedMessage = OutputOf<typeof listQuarantine>['items'][number];

export const quarantine = mailboxPage('quarantine', {
  translated: true,
  notices: {
    released: { message: 'quarantine.done-released' },
    withheld: { message: 'quarantine.done-quarantined' },
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
    const t = translatorOf(visit.request);
    return html`<section>
      <h2>${t('page.Quarantine')}</h2>
      <p>${t('quarantine.about')}</p>
      ${listed.items.length === 0 ? none(t, listed.nextCursor) : listOf(t, visit, listed.items)}
      ${nextPage(`${base}/quarantine`, listed.nextCursor, t)}
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

/** A page may be empty while older messages follow: released ones are left out. */
const none = (t: Translator, nextCursor: string | null | undefined): HtmlPart =>
  emptyState(t('quarantine.none'), typeof nextCursor === 'string' ? t('quarantine.older') : t('quarantine.none-text'));

const STATES = {
  withheld: ['quarantine.quarantined', 'warn'],
  requested: ['quarantine.requested', 'bad'],
  released: ['quarantine.released', ''],
  people_only: ['quarantine.people-only', 'warn'],
} as const satisfies Readonly<Record<QuarantinedMessage['state'], readonly [PlainPortalKey, string]>>;

function listOf(t: Translator, visit: Visit, items: readonly QuarantinedMessage[]): HtmlPart {
  return table(
    t('quarantine.messages'),
    [t('approval.from'), t('approval.subject'), t('junk.received'), t('domains.status'), ''],
    items.map((one) => [
      one.from?.address ?? '',
      one.untrusted.subject,
      timestamp(one.receivedAt, t),
      html`${stateOf(t, one)}${one.untrusted.reason !== '' && html`<br /><span class="small soft">${one.untrusted.reason}</span>`}`,
      choiceOf(t, visit, one),
    ]),
    t,
  );
}

function stateOf(t: Translator, { state }: QuarantinedMessage): HtmlPart {
  const [key, look] = STATES[state];
  return tag(t(key), look);
}

function choiceOf(t: Translator, visit: Visit, { id: messageId, state }: QuarantinedMessage): HtmlPart {
  switch (state) {
    case 'people_only':
      return html`<span class="small soft">${t('quarantine.people-only-text')}</span>`;
    case 'released':
      return actionButton(visit, 'withhold', t('quarantine.withhold'), { messageId });
    case 'withheld':
    case 'requested':
      return actionButton(visit, 'release', t('quarantine.release'), { messageId });
  }
}
