import type { listQuarantine } from '../../operations/quarantine/list.ts';
import { html, type Part } from '../html.ts';
import { type Act, acting, type Page, press } from '../page.ts';
import { crumb, cursorOf, empty, head, moment, nextPage, table, tag } from '../parts.ts';
import { type Answer, read, type Visit } from '../visit.ts';

type Item = Answer<typeof listQuarantine>['items'][number];

export const withheld: Page = {
  path: '/mailboxes/:id/withheld',
  name: 'Withheld',
  menu: null,
  needs: 'list_quarantine',
  done: {
    released: 'Programs that may read this mailbox are shown the message now.',
    withheld: 'Programs are not shown the message any more.',
  },
  acts: {
    release: decides(true),
    withhold: decides(false),
  },
  async show(visit, { params, query }) {
    const mailbox = params['id'] ?? '';
    const listed = await read<typeof listQuarantine>(visit, 'list_quarantine', { mailbox, ...cursorOf(query) });
    if (listed === undefined) return undefined;
    const base = `${visit.base}/mailboxes/${mailbox}`;
    return html`${crumb(base, 'The mailbox')}
    ${head('Withheld', 'Agents and other programs are not shown what these messages say: they hold much more than you see of them, as mail does that is written for programs, or were refused. Mail programs show them as ever.')}
    ${listed.items.length === 0 ? NONE : listOf(visit, listed.items)} ${nextPage(`${base}/withheld`, listed.nextCursor)}`;
  },
};

function decides(release: boolean): Act {
  return acting(
    'release_message',
    (fields, params) => ({ mailbox: params['id'], messageId: fields.text('messageId'), release }),
    () => ({ kind: 'done', said: release ? 'released' : 'withheld' }),
  );
}

const NONE = empty('Nothing is withheld here', 'Older messages may stand on the next page.');

const STATES: Readonly<Record<Item['state'], Part>> = {
  withheld: tag('withheld', 'warn'),
  requested: tag('asked for', 'bad'),
  released: tag('released'),
  people_only: tag('for people only', 'warn'),
};

function listOf(visit: Visit, items: readonly Item[]): Part {
  return table(
    'Withheld messages',
    ['From', 'Subject', 'Received', 'State', ''],
    items.map((one) => [
      one.from?.address ?? '',
      one.untrusted.subject,
      moment(one.receivedAt),
      html`${STATES[one.state]}${one.untrusted.reason !== '' && html`<br /><span class="small soft">${one.untrusted.reason}</span>`}`,
      choiceOf(visit, one),
    ]),
  );
}

function choiceOf(visit: Visit, { id: messageId, state }: Item): Part {
  switch (state) {
    case 'people_only':
      return html`<span class="small soft">${PEOPLE_ONLY}</span>`;
    case 'released':
      return press(visit, 'withhold', 'Withhold', { messageId });
    case 'withheld':
    case 'requested':
      return press(visit, 'release', 'Show it to programs', { messageId });
  }
}

const PEOPLE_ONLY =
  'A link in it signs in or decides as you. A program that opened it would be you, so it is never shown to one.';
