import { countPendingProposals } from '../../agents/proposal-queries.ts';
import type { decideProposalOf, listProposals } from '../../operations/policies/proposals.ts';
import { html, type Html, type HtmlPart } from '../html.ts';
import type { PlainPortalKey } from '../message-types.ts';
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
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Proposal = OutputOf<typeof listProposals>['proposals'][number];

/** Changes that agents requested and a person must approve. */
export const proposals: Page = {
  path: '/proposals',
  name: 'Proposals',
  translated: true,
  menu: 'Programs',
  needs: 'decide_proposal',
  notForMembers: true,
  notices: {
    accepted: { message: 'proposal.accepted' },
    failed: { message: 'proposal.failed' },
    refused: { message: 'proposal.refused' },
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
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Proposals'), t('proposal.about'))}
    ${pending.length === 0 && emptyState(t('proposal.none'), t('proposal.none-text'))}
    ${pending.map((one) => waiting(t, visit, one))} ${past.length > 0 && decided(t, past)}
    ${nextPage(`${visit.base}/proposals`, listed?.nextCursor, t)}`;
  },
};

function deciding(accept: boolean) {
  return operationAction(
    'decide_proposal',
    (result, { request }) => resultOf(translatorOf(request), result as OutputOf<typeof decideProposalOf>),
    (fields) => ({ proposalId: fields.text('proposalId'), accept }),
  );
}

/** Shows a resulting secret to the approver only, never to the agent. */
function resultOf(
  t: Translator,
  { state, outcome, result }: OutputOf<typeof decideProposalOf>,
): Exclude<ActionResult, { kind: 'refused' }> {
  if (state === 'refused') return { kind: 'done', notice: 'refused' };
  if (outcome !== 'done') return { kind: 'done', notice: 'failed' };
  const rows = secretsIn(t, result ?? {});
  if (rows.length === 0) return { kind: 'done', notice: 'accepted' };
  return { kind: 'shown', panel: secret(t('proposal.executed'), rows, t('proposal.once')) };
}

const SECRETS: Readonly<Record<string, PlainPortalKey>> = {
  secret: 'proposal.secret',
  password: 'field.password',
  signingSecret: 'connection.secret-name',
};

function secretsIn(t: Translator, result: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(result).flatMap(([name, value]): [string, string][] => {
    const label = SECRETS[name];
    if (label !== undefined && typeof value === 'string') return [[t(label), value]];
    // A connection profile has the password in each server entry.
    return name === 'imap' && typeof value === 'object' && value !== null ? secretsIn(t, { ...value }) : [];
  });
}

function waiting(t: Translator, visit: Visit, one: Proposal): Html {
  const { proposalId, title, tokenName, tokenId, changes } = one;
  const values = { proposalId };
  return html`<section id="${proposalId}">
    <h2>${t.english(title)}</h2>
    ${descriptionList([
      [t('approval.requested-by'), [quotedText(tokenName), html` <span class="soft"><code>${tokenId}</code></span>`]],
      [
        t('approval.requested'),
        t.rich('proposal.times', { time: timestamp(one.createdAt, t), end: timestamp(one.expiresAt, t) }),
      ],
      ...Object.entries(one.arguments).map(([name, value]) => [t.english(words(name)), quotedText(value)] as const),
    ])}
    ${
      changes.length > 0 &&
      html`<ul>
        ${changes.map((change) => html`<li>${t.english(change)}</li>`)}
      </ul>`
    }
    ${
      isAllowed(visit, 'decide_proposal') &&
      buttonRow(
        confirmedAction(visit, 'accept', {
          label: t('proposal.accept'),
          question: t('proposal.accept-question'),
          yes: t('proposal.accept'),
          values,
          calm: true,
        }),
        actionButton(visit, 'refuse', t('approve.reject'), values, 'quiet'),
      )
    }
  </section>`;
}

function words(name: string): string {
  const spaced = name.replace(/Id(s?)$/, '$1').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${spaced.slice(0, 1).toUpperCase()}${spaced.slice(1)}`;
}

const LOOKS = { accepted: 'ok', refused: 'bad', replaced: '', expired: 'warn', pending: '' } as const;

function decided(t: Translator, all: readonly Proposal[]): HtmlPart {
  return html`<section>
    <h2>${t('approvals.decided')}</h2>
    ${table(
      t('proposal.decided'),
      [t('provider-dns.change'), t('approval.requested-by'), t('approvals.decision'), t('charts.time')],
      all.map((one) => [
        t.english(one.title),
        quotedText(one.tokenName),
        [
          tag(t(`proposal-state.${one.state}`), one.message === undefined ? LOOKS[one.state] : 'warn'),
          html` <span class="soft">${outcomeText(t, one)}</span>`,
        ],
        timestamp(one.decidedAt ?? one.expiresAt, t),
      ]),
      t,
    )}
  </section>`;
}

function outcomeText(t: Translator, { state, outcome, message, decidedBy }: Proposal): HtmlPart {
  const name = decidedBy ?? '';
  if (message !== undefined) return [name, '. ', t.english(message)];
  if (state === 'accepted' && outcome === null) return t('proposal.by-progress', { name });
  return outcome === null || outcome === 'done' ? name : t('proposal.by-failed', { name, outcome });
}
