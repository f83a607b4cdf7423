import { pendingProposals } from '../../agents/proposal-queries.ts';
import type { decideProposalOf, listProposals } from '../../operations/policies/proposals.ts';
import { html, type Html, type Part } from '../html.ts';
import { type Acted, acting, type Page, press, sure } from '../page.ts';
import { acts, cursorOf, empty, facts, head, moment, nextPage, secret, table, tag, theirs } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Proposal = Answer<typeof listProposals>['proposals'][number];

/** What agents asked for that outlives them, and what became of it. */
export const proposals: Page = {
  path: '/proposals',
  name: 'Proposals',
  menu: 'Programs',
  needs: 'decide_proposal',
  notForMembers: true,
  done: {
    accepted: 'It is done, as the agent asked for it.',
    failed: 'It could not be done: the list below says why.',
    refused: 'It was refused. Nothing was done.',
  },
  acts: { accept: deciding(true), refuse: deciding(false) },
  count: ({ world, membership }) =>
    world.store.read(pendingProposals, { organization: membership.organization, now: world.clock() }),
  async show(visit, state) {
    const listed = await read<typeof listProposals>(visit, 'list_proposals', { ...cursorOf(state.query), limit: 50 });
    const all = listed?.proposals ?? [];
    const pending = all.filter((one) => one.state === 'pending');
    const past = all.filter((one) => one.state !== 'pending');
    const about =
      'Changes that agents under a policy asked for and that would outlive them: forwards, webhooks, keys, passwords and their own policy. Nothing of it holds until you accept it.';
    return html`${head('Proposals', about)} ${pending.length === 0 && NONE} ${pending.map((one) => waiting(visit, one))}
    ${past.length > 0 && decided(past)} ${nextPage(`${visit.base}/proposals`, listed?.nextCursor)}`;
  },
};

const NONE = empty('Nothing waits for you', 'What an agent may not decide for itself stands here.');

function deciding(accept: boolean) {
  return acting(
    'decide_proposal',
    (fields) => ({ proposalId: fields.text('proposalId'), accept }),
    (result) => said(result as Answer<typeof decideProposalOf>),
  );
}

/** A secret that came of it is shown to who accepted: the agent is not given it. */
function said({ state, outcome, result }: Answer<typeof decideProposalOf>): Exclude<Acted, { kind: 'refused' }> {
  if (state === 'refused') return { kind: 'done', said: 'refused' };
  if (outcome !== 'done') return { kind: 'done', said: 'failed' };
  const rows = secretsIn(result ?? {});
  if (rows.length === 0) return { kind: 'done', said: 'accepted' };
  const about = 'It is shown this once, and the agent has not seen it. Hand it over only where it is needed.';
  return { kind: 'shown', panel: secret('It is done', rows, about) };
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
    // A connection profile has it in each of its servers.
    return name === 'imap' && typeof value === 'object' && value !== null ? secretsIn({ ...value }) : [];
  });
}

function waiting(visit: Visit, one: Proposal): Html {
  const { proposalId, title, tokenName, tokenId, changes } = one;
  const values = { proposalId };
  return html`<section id="${proposalId}">
    <h2>${title}</h2>
    ${facts([
      ['Asked for by', [theirs(tokenName), html` <span class="soft"><code>${tokenId}</code></span>`]],
      ['When', [moment(one.createdAt), '; open until ', moment(one.expiresAt)]],
      ...Object.entries(one.arguments).map(([name, value]) => [words(name), theirs(value)] as const),
    ])}
    ${
      changes.length > 0 &&
      html`<ul>
        ${changes.map((change) => html`<li>${change}</li>`)}
      </ul>`
    }
    ${
      can(visit, 'decide_proposal') &&
      acts(
        sure(visit, 'accept', {
          label: 'Accept',
          question: 'Exactly this is done now, with the rights that the agent’s token has.',
          yes: 'Accept it',
          values,
          calm: true,
        }),
        press(visit, 'refuse', 'Refuse', values, 'quiet'),
      )
    }
  </section>`;
}

function words(name: string): string {
  const spaced = name.replace(/Id(s?)$/, '$1').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${spaced.slice(0, 1).toUpperCase()}${spaced.slice(1)}`;
}

const LOOKS = { accepted: 'ok', refused: 'bad', replaced: '', expired: 'warn', pending: '' } as const;

function decided(all: readonly Proposal[]): Part {
  return html`<section>
    <h2>Decided</h2>
    ${table(
      'Decided proposals',
      ['What', 'Asked for by', 'Decided', 'When'],
      all.map((one) => [
        one.title,
        theirs(one.tokenName),
        [
          tag(one.state, one.message === undefined ? LOOKS[one.state] : 'warn'),
          html` <span class="soft">${one.decidedBy}${became(one)}</span>`,
        ],
        moment(one.decidedAt ?? one.expiresAt),
      ]),
    )}
  </section>`;
}

function became({ state, outcome, message }: Proposal): string {
  if (message !== undefined) return `. ${message}`;
  if (state === 'accepted' && outcome === null) return ', being done';
  return outcome === null || outcome === 'done' ? '' : `, not done: ${outcome}`;
}
