import type { listSuppressionsOf } from '../../operations/sending/suppressions.ts';
import { field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import type { PlainPortalKey } from '../message-types.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { address, cursorOf, dateOnly, emptyState, pageHead, nextPage, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Suppression = OutputOf<typeof listSuppressionsOf>['suppressions'][number];

export const suppressions: Page = {
  path: '/suppressions',
  name: 'Suppressions',
  translated: true,
  menu: 'Mail',
  needs: 'list_suppressions',
  notices: {
    added: { message: 'suppression.added' },
    removed: { message: 'suppression.removed' },
  },
  actions: {
    add: operationAction('add_suppression', 'added', (fields) => ({ address: fields.line('address') ?? '' })),
    remove: operationAction('remove_suppression', 'removed', ['address']),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listSuppressionsOf>(visit, 'list_suppressions', page);
    const all = listed?.suppressions ?? [];
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Suppressions'), t('suppression.about'))}
    ${all.length === 0 ? emptyState(t('suppression.none'), t('suppression.none-text')) : listOf(t, visit, all)}
    ${nextPage(`${visit.base}/suppressions`, listed?.nextCursor, t)}
    ${isAllowed(visit, 'add_suppression') && form(t, visit, state)}`;
  },
};

const REASONS: Readonly<Record<Suppression['reason'], readonly [name: PlainPortalKey, look: 'warn' | 'bad' | '']>> = {
  hard_bounce: ['suppression.bounced', 'warn'],
  complaint: ['suppression.complained', 'bad'],
  unsubscribe: ['suppression.unsubscribed', ''],
  manual: ['suppression.manual', ''],
};

function reasonTag(t: Translator, { reason }: Suppression): HtmlPart {
  const [name, look] = REASONS[reason];
  return tag(t(name), look);
}

function listOf(t: Translator, visit: Visit, all: readonly Suppression[]): HtmlPart {
  return table(
    t('suppression.addresses'),
    [t('devices.address'), t('approvals.reason'), t('queue.since'), t('suppression.source'), ''],
    all.map((one) => [
      address(one.address),
      reasonTag(t, one),
      dateOnly(one.since, t),
      html`${t.english(one.source)}${one.untrusted.said !== '' && html`<br /><span class="small soft">${one.untrusted.said}</span>`}`,
      isAllowed(visit, 'remove_suppression') && removal(t, visit, one),
    ]),
    t,
  );
}

function removal(t: Translator, visit: Visit, { address: text, reason }: Suppression): HtmlPart {
  const wish = reason === 'complaint' || reason === 'unsubscribe';
  return confirmedAction(visit, 'remove', {
    label: t('passkey.remove'),
    question: t(wish ? 'suppression.consent-question' : 'suppression.remove-question', { address: text }),
    yes: t('passkey.remove'),
    values: { address: text },
  });
}

function form(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const who = { name: 'address', label: t('devices.address'), placeholder: 'anna@elsewhere.example' };
  return html`<section>
    <h2>${t('suppression.add-title')}</h2>
    ${actionForm(visit, 'add', t('suppression.add'), field(who, formStateFor(state, 'add')))}
  </section>`;
}
