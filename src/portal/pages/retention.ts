import type { getRetention } from '../../operations/retention/retention.ts';
import { field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import {
  actionButton,
  actionForm,
  confirmedAction,
  formStateFor,
  operationAction,
  type Page,
  type PageState,
} from '../page.ts';
import { address, emptyState, pageHead, table, timestamp } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { mailboxAddresses } from './mailbox-tabs.ts';
import { addRule, daysIn, removeRule } from './retention-rules.ts';

type Retention = OutputOf<typeof getRetention>;
type Hold = Retention['holds'][number];

/** Retention of an organization: when mail is removed, and which mailboxes are under legal hold. */
export const retention: Page = {
  path: '/retention',
  name: 'Retention',
  translated: true,
  menu: 'Organization',
  needs: 'get_retention',
  notices: {
    saved: { message: 'retention.saved' },
    ruled: { message: 'retention.ruled' },
    unruled: { message: 'retention.unruled' },
    held: { message: 'retention.held' },
    lifted: { message: 'retention.lifted' },
  },
  actions: {
    save: operationAction('set_retention', 'saved', (fields) => ({
      deletedDays: daysIn(fields.line('deletedDays') ?? ''),
      trashDays: daysIn(fields.line('trashDays')),
      junkDays: daysIn(fields.line('junkDays')),
    })),
    rule: addRule,
    unrule: removeRule,
    hold: operationAction('set_legal_hold', 'held', (fields) => ({
      address: fields.line('address') ?? '',
      reason: fields.line('reason') ?? '',
    })),
    lift: operationAction('set_legal_hold', 'lifted', ['mailboxId']),
  },
  async show(visit, state) {
    const found = await readOperation<typeof getRetention>(visit, 'get_retention', {});
    if (found === undefined) return undefined;
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Retention'), t('retention.about'))} ${schedule(t, visit, found)}
    ${ages(t, visit, state, found)} ${folderRule(t, visit, state)} ${await holds(t, visit, state, found.holds)}`;
  },
};

/** Lists what is removed when, as it results from the ages. */
function schedule(t: Translator, visit: Visit, { deletedDays, trashDays, junkDays, rules }: Retention): HtmlPart {
  const row = (what: HtmlPart, age: number | null, change: HtmlPart = ''): HtmlPart[] => [
    what,
    age === null ? t('retention.never') : t('retention.after-there', { count: age }),
    age === null ? t('retention.never') : t('retention.after', { count: age + deletedDays }),
    change,
  ];
  return html`<section>
    <h2>${t('retention.schedule')}</h2>
    <p>${t('retention.schedule-about')}</p>
    ${table(
      t('retention.schedule'),
      [t('retention.messages'), t('retention.leave'), t('retention.purged'), ''],
      [
        [t('retention.deleted'), t('retention.at-once'), t('retention.after', { count: deletedDays }), ''],
        row(t('retention.in-trash'), trashDays),
        row(t('retention.in-junk'), junkDays),
        ...rules.map(({ folder, days }) =>
          row(
            t.rich('retention.in-folder', { folder: html`<b>${folder}</b>` }),
            days,
            isAllowed(visit, 'set_retention') && actionButton(visit, 'unrule', t('retention.remove-rule'), { folder }),
          ),
        ),
      ],
      t,
    )}
  </section>`;
}

function ages(t: Translator, visit: Visit, state: PageState, found: Retention): HtmlPart {
  if (!isAllowed(visit, 'set_retention')) return undefined;
  const form = formStateFor(state, 'save');
  const text = (value: number | null): string => (value === null ? '' : String(value));
  const emptied = { hint: t('retention.empty-never'), optional: t('field.optional') };
  const deleted = { name: 'deletedDays', label: t('retention.deleted-days'), hint: t('retention.deleted-hint') };
  return html`<section>
    <h2>${t('retention.periods')}</h2>
    ${actionForm(
      visit,
      'save',
      t('retention.save-periods'),
      html`${field({ ...deleted, value: text(found.deletedDays) }, form)}
      ${field({ name: 'trashDays', label: t('retention.trash-days'), ...emptied, value: text(found.trashDays) }, form)}
      ${field({ name: 'junkDays', label: t('retention.junk-days'), ...emptied, value: text(found.junkDays) }, form)}`,
    )}
  </section>`;
}

function folderRule(t: Translator, visit: Visit, state: PageState): HtmlPart {
  if (!isAllowed(visit, 'set_retention')) return undefined;
  const form = formStateFor(state, 'rule');
  return html`<section>
    <h2>${t('retention.rules')}</h2>
    <p>${t('retention.rules-about')}</p>
    ${actionForm(
      visit,
      'rule',
      t('retention.save-rule'),
      html`${field({ name: 'folder', label: t('deleted.folder'), hint: t('retention.folder-hint') }, form)}
      ${field({ name: 'days', label: t('retention.folder-days') }, form)}`,
    )}
  </section>`;
}

async function holds(t: Translator, visit: Visit, state: PageState, all: readonly Hold[]): Promise<HtmlPart> {
  const names = await mailboxAddresses(visit, new Set(all.map(({ mailboxId }) => mailboxId)));
  const rows = all.map((one) => holdRow(t, visit, one, names.get(one.mailboxId) ?? one.mailboxId));
  const headings = [t('account.mailbox'), t('approvals.reason'), t('hold.placed'), ''];
  return html`<section>
    <h2>${t('hold.title')}</h2>
    <p>${t('hold.about')}</p>
    ${all.length === 0 ? emptyState(t('hold.none'), t('hold.none-text')) : table(t('hold.title'), headings, rows, t)}
    ${isAllowed(visit, 'set_legal_hold') && holdForm(t, visit, state)}
  </section>`;
}

function holdForm(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const form = formStateFor(state, 'hold');
  return actionForm(
    visit,
    'hold',
    t('hold.place'),
    html`${field({ name: 'address', label: t('hold.address'), type: 'email', autocomplete: 'off' }, form)}
    ${field({ name: 'reason', label: t('approvals.reason'), hint: t('hold.reason-hint') }, form)}`,
  );
}

function holdRow(t: Translator, visit: Visit, { mailboxId, reason, heldBy, heldAt }: Hold, name: string): HtmlPart[] {
  return [
    html`<a href="${visit.base}/mailboxes/${mailboxId}">${address(name)}</a>`,
    reason,
    [timestamp(heldAt, t), html` <span class="soft">${t('approval.by', { name: heldBy })}</span>`],
    isAllowed(visit, 'set_legal_hold') &&
      confirmedAction(visit, 'lift', {
        label: t('hold.lift'),
        question: t('hold.lift-question', { name }),
        yes: t('hold.lift-button'),
        values: { mailboxId },
      }),
  ];
}
