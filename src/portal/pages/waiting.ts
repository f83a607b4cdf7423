import { countPending, listOutbox, type OutboxItem } from '../../../mail/delivery/outbox-items.ts';
import { askerOf } from '../../approvals/asked-mail.ts';
import { publicId } from '../../ids.ts';
import { inPlainSight } from '../../untrusted/plain-sight.ts';
import { stateTag } from '../asked-mail.ts';
import { html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import { address, empty, head, moment, theirs, table } from '../parts.ts';
import type { Visit } from '../visit.ts';

const FEW_DECIDED = 20;
const MOST_SHOWN = 100;

/** Mail of agents that a person has to let go, and what was decided lately. */
export const waiting: Page = {
  path: '/outbox',
  name: 'Waiting for you',
  menu: 'Mail',
  needs: 'list_outbox',
  done: {
    approved: 'It is sent.',
    denied: 'It was refused. Nobody gets it, and its agent is told.',
  },
  acts: {},
  count: ({ world, membership, caller }) =>
    world.store.read(countPending, {
      tenant: membership.organization,
      accounts: caller.mailboxes,
      now: world.clock(),
    }),
  async show(visit) {
    const [pending, decided] = await Promise.all([items(visit, 'pending'), items(visit, null)]);
    const asked = pending.filter(({ approval }) => approval !== null);
    const past = decided.filter(({ approval, state }) => approval !== null && state !== 'pending');
    return html`${head('Waiting for you', 'What agents want to send and a person has to look at first. It is sent only when you approve it, within 24 hours.')}
    ${
      asked.length === 0
        ? empty('Nothing waits for you', 'Mail of agents that needs a look stands here.')
        : await askedTable(visit, asked)
    }
    ${past.length > 0 && (await decidedTable(visit, past.slice(0, FEW_DECIDED)))}`;
  },
};

function items({ world, membership, caller }: Visit, state: 'pending' | null): Promise<OutboxItem[]> {
  const whose = { tenant: membership.organization, accounts: caller.mailboxes };
  return world.store.read(listOutbox, { ...whose, state, before: null, limit: MOST_SHOWN, now: world.clock() });
}

async function askedTable(visit: Visit, all: readonly OutboxItem[]): Promise<Part> {
  const rows = await Promise.all(
    all.map(async (one) => [
      link(visit, one),
      [first(one), more(one.recipients)],
      [await asker(visit, one), html` <span class="soft">as ${theirs(address(inPlainSight(one.sender)))}</span>`],
      [
        inPlainSight(one.approval?.reasons[0]?.text ?? ''),
        html` <span class="soft">Until ${moment(one.approval?.expiresAt ?? 0)}</span>`,
      ],
    ]),
  );
  return table('Mail that waits for you', ['Subject', 'To', 'Asked for by', 'Why'], rows);
}

async function decidedTable(visit: Visit, all: readonly OutboxItem[]): Promise<Part> {
  const rows = await Promise.all(
    all.map(async (one) => [
      link(visit, one),
      [first(one), more(one.recipients)],
      await asker(visit, one),
      [stateTag(one.state), html` <span class="soft">${one.approval?.decidedBy ?? ''}</span>`],
    ]),
  );
  return html`<section>
    <h2>Decided</h2>
    ${table('Mail that was decided about', ['Subject', 'To', 'Asked for by', 'What became of it'], rows)}
  </section>`;
}

function link({ base }: Visit, { id, approval }: OutboxItem): Part {
  const subject = approval?.subject ?? '';
  const href = `${base}/outbox/${publicId('outbox', id)}`;
  if (subject === '') return html`<a href="${href}">Without a subject</a>`;
  // The link within the quotation: a browser takes no click on the marks of a quotation within a link.
  return theirs(html`<a href="${href}">${inPlainSight(subject)}</a>`);
}

function first({ recipients: [one = ''] }: OutboxItem): Part {
  return theirs(address(inPlainSight(one)));
}

function more(recipients: readonly string[]): Part {
  return recipients.length > 1 && html` <span class="soft">and ${recipients.length - 1} more</span>`;
}

async function asker({ world, membership }: Visit, { approval }: OutboxItem): Promise<Part> {
  return theirs(await askerOf(world, membership.organization, approval?.credential ?? ''));
}
