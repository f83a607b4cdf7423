import { countPendingProposals } from '../../agents/proposal-queries.ts';
import type { decideProposalOf, listProposals } from '../../operations/policies/proposals.ts';
import { html, type Html, type HtmlPart } from '../html.ts';
import { type ActionResult, operationAction, type Page, actionButton, confirmedAction } from '../page.ts';
import {
  buttonRow,
  cursorOf,
  emptyState,
  descriptionList,
  pageHead,
  timestamp,
  nextPage,
  secret,
  table,
  tag,
  quotedText,
} from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Proposal = OutputOf<typeof listProposals>['proposals'][number];

/** Changes that agents requested and a person must approve. */
export const proposals: Page = {
  path: '/proposals',
  name: 'Proposals',
  menu: 'Programs',
  needs: 'decide_proposal',
  notForMembers: true,
  notices: {
    accepted: 'Proposal accepted and executed.',
    failed: 'Proposal accepted, but it failed. See the list below.',
    refused: 'Proposal rejected. No changes made.',
  },
  actions: { accept: deciding(true), refuse: deciding(false) },
  count: ({ context, membership }) =>
    context.store.read(countPendingProposals, { organization: membership.organization, now: context.clock() }),
  async show(visit, state) {
    const listed = await readOperation<typeof listProposals>(visit, 'list_proposals', {
      ...cursorOf(state.query),
      limit: 50,
    });
    const all = listed?.proposals ?? [];
    const pending = all.filter((one) => one.state === 'pending');
    const past = all.filter((one) => one.state !== 'pending');
    const about =
      'Changes requested by governed agents that outlast their session: forwards, webhooks, keys, passwords and their own policy. They take effect only when you accept them.';
    return html`${pageHead('Proposals', about)} ${pending.length === 0 && NONE}
    ${pending.map((one) => waiting(visit, one))} ${past.length > 0 && decided(past)}
    ${nextPage(`${visit.base}/proposals`, listed?.nextCursor)}`;
  },
};

const NONE = emptyState('No pending proposals', 'Changes that need your decision are listed here.');

function deciding(accept: boolean) {
  return operationAction(
    'decide_proposal',
    (result) => resultOf(result as OutputOf<typeof decideProposalOf>),
    (fields) => ({ proposalId: fields.text('proposalId'), accept }),
  );
}

/** Shows a resulting secret to the approver only, never to the agent. */
function resultOf({
  state,
  outcome,
  result,
}: OutputOf<typeof decideProposalOf>): Exclude<ActionResult, { kind: 'refused' }> {
  if (state === 'refused') return { kind: 'done', notice: 'refused' };
  if (outcome !== 'done') return { kind: 'done', notice: 'failed' };
  const rows = secretsIn(result ?? {});
  if (rows.length === 0) return { kind: 'done', notice: 'accepted' };
  const about = 'Shown only once. The agent cannot see it.';
  return { kind: 'shown', panel: secret('Proposal executed', rows, about) };
}

const SECRETS: Readonly<Record<string, string>> = {
  secret: 'Secret',
  password: 'Password',
  signingSecret: 'Signing secret',
};

function secretsIn(result: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(result).flatMap(([name, value]): [string, string][] => {
    const label = SECRETS[name];
    if (label !== undefined && typeof value === 'string') return [[label, value]];
    // A connection profile has the password in each server entry.
    return name === 'imap' && typeof value === 'object' && value !== null ? secretsIn({ ...value }) : [];
  });
}

function waiting(visit: Visit, one: Proposal): Html {
  const { proposalId, title, tokenName, tokenId, changes } = one;
  const values = { proposalId };
  return html`<section id="${proposalId}">
    <h2>${title}</h2>
    ${descriptionList([
      ['Requested by', [quotedText(tokenName), html` <span class="soft"><code>${tokenId}</code></span>`]],
      ['Requested', [timestamp(one.createdAt), ', expires ', timestamp(one.expiresAt)]],
      ...Object.entries(one.arguments).map(([name, value]) => [words(name), quotedText(value)] as const),
    ])}
    ${
      changes.length > 0 &&
      html`<ul>
        ${changes.map((change) => html`<li>${change}</li>`)}
      </ul>`
    }
    ${
      isAllowed(visit, 'decide_proposal') &&
      buttonRow(
        confirmedAction(visit, 'accept', {
          label: 'Accept',
          question: 'Executes exactly this change with the permissions of the agent’s token.',
          yes: 'Accept',
          values,
          calm: true,
        }),
        actionButton(visit, 'refuse', 'Reject', values, 'quiet'),
      )
    }
  </section>`;
}

function words(name: string): string {
  const spaced = name.replace(/Id(s?)$/, '$1').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${spaced.slice(0, 1).toUpperCase()}${spaced.slice(1)}`;
}

const LOOKS = { accepted: 'ok', refused: 'bad', replaced: '', expired: 'warn', pending: '' } as const;

function decided(all: readonly Proposal[]): HtmlPart {
  return html`<section>
    <h2>Decided</h2>
    ${table(
      'Decided proposals',
      ['Change', 'Requested by', 'Decision', 'Time'],
      all.map((one) => [
        one.title,
        quotedText(one.tokenName),
        [
          tag(one.state, one.message === undefined ? LOOKS[one.state] : 'warn'),
          html` <span class="soft">${one.decidedBy}${outcomeText(one)}</span>`,
        ],
        timestamp(one.decidedAt ?? one.expiresAt),
      ]),
    )}
  </section>`;
}

function outcomeText({ state, outcome, message }: Proposal): string {
  if (message !== undefined) return `. ${message}`;
  if (state === 'accepted' && outcome === null) return ', in progress';
  return outcome === null || outcome === 'done' ? '' : `, failed: ${outcome}`;
}
