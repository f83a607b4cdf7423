import { askedMail } from '../../approvals/asked-mail.ts';
import { decide, type Decider, UNDECIDED } from '../../approvals/decision.ts';
import { rowId } from '../../ids.ts';
import { askedMailShown } from '../asked-mail.ts';
import { type Filled, UNFILLED } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { passwordAgain, proveAgain } from '../own-password.ts';
import { type Act, filledFor, type Page, sheet, type State, sure } from '../page.ts';
import { crumb, head } from '../parts.ts';
import type { Visit } from '../visit.ts';

/** One message of an agent, and the two buttons. */
export const waitingMail: Page = {
  path: '/outbox/:id',
  name: 'Mail that waits for you',
  menu: null,
  needs: 'list_outbox',
  done: {},
  acts: { approve: deciding(true), deny: deciding(false) },
  async show(visit, state) {
    const id = rowId('outbox', state.params['id'] ?? '') ?? 0;
    const { organization: tenant } = visit.membership;
    const found = await askedMail(visit.world, { tenant, accounts: visit.caller.mailboxes, id });
    if (found === undefined) return undefined;
    return html`${crumb(`${visit.base}/outbox`, 'Waiting for you')} ${head('Mail of an agent')} ${askedMailShown(found)}
    ${found.item.state === 'pending' && buttons(visit, state)}`;
  },
};

function buttons(visit: Visit, state: State): Part {
  const again = passwordAgain(visit, visit.visitor, filledFor(state, 'approve'));
  return html`<section>
    <h2>Your decision</h2>
    <p>Approve what you would have written yourself. An agent may have been talked into it by mail that it read.</p>
    ${sheet(visit, 'approve', 'Approve and send', again)}
    ${sure(visit, 'deny', {
      label: 'Refuse',
      question: 'Nobody gets it, and the agent is told that a person refused it.',
      yes: 'Refuse it',
    })}
  </section>`;
}

/** Who is signed in, as the one who decides. */
export function deciderOf({ membership, caller }: Pick<Visit, 'membership' | 'caller'>): Decider {
  const { actor, actorName, ip, mailboxes: accounts } = caller;
  return { tenant: membership.organization, accounts, actor, actorName, ip };
}

function deciding(approves: boolean): Act {
  return async (visit, fields, params) => {
    const wrong = approves ? await proveAgain(visit, visit.visitor, fields.text('password')) : undefined;
    if (wrong !== undefined) return { kind: 'refused', filled: refusedFor(wrong) };
    const id = rowId('outbox', params['id'] ?? '') ?? 0;
    const done = await decide(visit.world, deciderOf(visit), { id, approves });
    if (done.kind !== 'approved' && done.kind !== 'denied') {
      return { kind: 'refused', filled: { ...UNFILLED, problem: UNDECIDED[done.kind] } };
    }
    return { kind: 'done', said: done.kind, to: `${visit.base}/outbox` };
  };
}

function refusedFor(wrong: string): Filled {
  return { values: {}, errors: { password: wrong } };
}
