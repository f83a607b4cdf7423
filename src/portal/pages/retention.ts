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
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { mailboxAddresses } from './mailbox-tabs.ts';
import { addRule, daysIn, removeRule } from './retention-rules.ts';

type Retention = OutputOf<typeof getRetention>;
type Hold = Retention['holds'][number];

/** Retention of an organization: when mail is removed, and which mailboxes are under legal hold. */
export const retention: Page = {
  path: '/retention',
  name: 'Retention',
  menu: 'Organization',
  needs: 'get_retention',
  notices: {
    saved: 'Retention saved.',
    ruled: 'Folder rule saved.',
    unruled: 'Folder rule removed.',
    held: 'Mailbox placed under legal hold.',
    lifted: 'Legal hold lifted.',
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
    return html`${pageHead('Retention', 'When mail is purged, and which mailboxes are under legal hold.')}
    ${schedule(visit, found)} ${ages(visit, state, found)} ${folderRule(visit, state)}
    ${await holds(visit, state, found.holds)}`;
  },
};

/** Lists what is removed when, as it results from the ages. */
function schedule(visit: Visit, { deletedDays, trashDays, junkDays, rules }: Retention): HtmlPart {
  const row = (what: HtmlPart, age: number | null, change: HtmlPart = ''): HtmlPart[] => [
    what,
    age === null ? 'Never' : `After ${days(age)} there`,
    age === null ? 'Never' : `After ${days(age + deletedDays)}`,
    change,
  ];
  return html`<section>
    <h2>Schedule</h2>
    <p>
      A message that left its folder can be restored on the page Deleted messages of its mailbox until it is purged.
    </p>
    ${table(
      'Schedule',
      ['Messages', 'Leave the folder', 'Purged', ''],
      [
        ['Deleted by a person or a program', 'At once', `After ${days(deletedDays)}`, ''],
        row('In Trash', trashDays),
        row('In Junk', junkDays),
        ...rules.map(({ folder, days: age }) =>
          row(
            ['In ', html`<b>${folder}</b>`],
            age,
            isAllowed(visit, 'set_retention') && actionButton(visit, 'unrule', 'Remove rule', { folder }),
          ),
        ),
      ],
    )}
  </section>`;
}

function ages(visit: Visit, state: PageState, found: Retention): HtmlPart {
  if (!isAllowed(visit, 'set_retention')) return undefined;
  const form = formStateFor(state, 'save');
  const text = (value: number | null): string => (value === null ? '' : String(value));
  const never = 'Empty: never.';
  return html`<section>
    <h2>Retention periods</h2>
    ${actionForm(
      visit,
      'save',
      'Save periods',
      html`${field(
        {
          name: 'deletedDays',
          label: 'Days for which deleted messages can be restored',
          hint: 'A smaller number purges older ones within minutes.',
          value: text(found.deletedDays),
        },
        form,
      )}
      ${field(
        { name: 'trashDays', label: 'Days in Trash', hint: never, optional: true, value: text(found.trashDays) },
        form,
      )}
      ${field(
        { name: 'junkDays', label: 'Days in Junk', hint: never, optional: true, value: text(found.junkDays) },
        form,
      )}`,
    )}
  </section>`;
}

function folderRule(visit: Visit, state: PageState): HtmlPart {
  if (!isAllowed(visit, 'set_retention')) return undefined;
  const form = formStateFor(state, 'rule');
  return html`<section>
    <h2>Folder rules</h2>
    <p>A rule empties a folder in every mailbox of this organization. A second rule for a folder replaces the first.</p>
    ${actionForm(
      visit,
      'rule',
      'Save rule',
      html`${field({ name: 'folder', label: 'Folder', hint: 'Full name, such as Lists/Alerts.' }, form)}
      ${field({ name: 'days', label: 'Days in the folder' }, form)}`,
    )}
  </section>`;
}

async function holds(visit: Visit, state: PageState, all: readonly Hold[]): Promise<HtmlPart> {
  const form = formStateFor(state, 'hold');
  const names = await mailboxAddresses(visit, new Set(all.map(({ mailboxId }) => mailboxId)));
  return html`<section>
    <h2>Legal holds</h2>
    <p>Mail of a mailbox under legal hold is never purged, even after it is deleted.</p>
    ${
      all.length === 0
        ? emptyState('No legal holds', 'Mailboxes under legal hold are listed here.')
        : table(
            'Legal holds',
            ['Mailbox', 'Reason', 'Placed', ''],
            all.map((one) => holdRow(visit, one, names.get(one.mailboxId) ?? one.mailboxId)),
          )
    }
    ${
      isAllowed(visit, 'set_legal_hold') &&
      actionForm(
        visit,
        'hold',
        'Place under legal hold',
        html`${field({ name: 'address', label: 'Mailbox address', type: 'email', autocomplete: 'off' }, form)}
        ${field({ name: 'reason', label: 'Reason', hint: 'For example the case number. The audit log records it.' }, form)}`,
      )
    }
  </section>`;
}

function holdRow(visit: Visit, { mailboxId, reason, heldBy, heldAt }: Hold, name: string): HtmlPart[] {
  return [
    html`<a href="${visit.base}/mailboxes/${mailboxId}">${address(name)}</a>`,
    reason,
    [timestamp(heldAt), html` <span class="soft">by ${heldBy}</span>`],
    isAllowed(visit, 'set_legal_hold') &&
      confirmedAction(visit, 'lift', {
        label: 'Lift',
        question: `Mail of ${name} whose time is over is purged within minutes.`,
        yes: 'Lift hold',
        values: { mailboxId },
      }),
  ];
}

function days(count: number): string {
  return count === 1 ? '1 day' : `${count.toLocaleString('en-US')} days`;
}
