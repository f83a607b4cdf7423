import type { FastifyInstance, FastifyReply } from 'fastify';
import { publicId } from '../ids.ts';
import { claim, lookAtClaim } from '../people/claim.ts';
import type { ClaimFacts } from '../people/claim-commands.ts';
import { SHORTEST_PASSWORD } from '../people/password.ts';
import { isPrivate } from './cookie.ts';
import { type Asked, type Door, go, send, signIn, type Visitor, visitorOf } from './door.ts';
import { type Field, type Filled, field, hidden, problemNote, UNFILLED } from './forms.ts';
import { Fields } from './guard.ts';
import { type Html, html, type Part } from './html.ts';
import { narrowPage } from './layout.ts';
import { isRefusal, linkToken, refusedLink, troubleOf } from './link-page.ts';
import { notPrivate } from './sign-in-pages.ts';

export const NEW_PASSWORD: Field = {
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  minlength: SHORTEST_PASSWORD,
  hint: `At least ${SHORTEST_PASSWORD} characters. A sentence that only you would say is good.`,
};
export const OWN_PASSWORD: Field = {
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
};

/** `/auth/setup`: the page behind a claim link. Looking at it uses nothing up. */
export function claimRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/auth/setup', (request, reply) => show({ ...door, request, reply }));
    app.post('/auth/setup', (request, reply) => take({ ...door, request, reply }));
  };
}

async function show(asked: Asked): Promise<FastifyReply> {
  if (!isPrivate(asked.request)) return notPrivate(asked);
  return setupPage(asked, linkToken(asked), UNFILLED);
}

async function setupPage(asked: Asked, token: string, filled: Filled, status = 200): Promise<FastifyReply> {
  const facts = await lookAtClaim(asked.world, token, filled.values['email']);
  if (!('organization' in facts)) return refusedLink(asked, facts.kind);
  const visitor = await visitorOf(asked);
  const { name } = facts.organization;
  const title = facts.kind === 'claim' ? `Claim ${name}` : 'Prove your address';
  const body = html`<h1>${title}</h1>
    ${introduction(facts, asked.world.settings.hostname)} ${problemNote(filled)}
    <form class="plain" method="post" action="/auth/setup">
      ${hidden('token', token)} ${inputs(facts, visitor, filled)}
      <button>${facts.kind === 'claim' ? 'Claim the organization' : 'Prove the address'}</button>
    </form>
    ${facts.kind === 'claim' && AFTERWARDS}`;
  return send(asked, narrowPage({ title, body, fromLink: true }), status, true);
}

const AFTERWARDS = html`<p class="small soft">
  Afterwards you see everything that was done in it, and can end the access of who made it. Nothing is charged.
</p>`;

function introduction(facts: ClaimFacts, hostname: string): Html {
  if (facts.kind === 'prove') {
    return html`<p>
      The organization is claimed already. By opening this link you show that you read the mail of
      <strong>${facts.email}</strong>: a forgotten password can then be replaced by mail.
    </p>`;
  }
  if (facts.email === null) {
    return html`<p>It runs this mail server, ${hostname}. Who claims it is the operator of the box.</p>`;
  }
  return html`<p>
    This organization was made on ${hostname}, perhaps by an agent of yours, and names
    <strong>${facts.email}</strong> as its owner.
  </p>`;
}

function inputs(facts: ClaimFacts, visitor: Visitor | undefined, filled: Filled): Part {
  const { account, email } = facts;
  if (email === null)
    return [field(YOUR_ADDRESS, filled), field(account === null ? NEW_PASSWORD : OWN_PASSWORD, filled)];
  if (account !== null && account.user === visitor?.person.id) {
    return html`<p>You are signed in as ${visitor.person.email}.</p>`;
  }
  const known = { name: 'username', label: 'Mail address', value: email, readonly: true, autocomplete: 'username' };
  if (account === null && facts.kind === 'claim') return [field(known), field(NEW_PASSWORD, filled)];
  return [
    html`<p>There is an account with this address. Sign in with its password.</p>`,
    field(known),
    field(OWN_PASSWORD, filled),
    html`<p class="small"><a href="/auth/reset">Forgot the password?</a></p>`,
  ];
}

const YOUR_ADDRESS: Field = {
  name: 'email',
  label: 'Your mail address',
  type: 'email',
  autocomplete: 'username',
  hint: 'You sign in with it.',
};

async function take(asked: Asked): Promise<FastifyReply> {
  const { world, desk, request } = asked;
  if (!isPrivate(request)) return notPrivate(asked);
  const fields = new Fields(request.body);
  const [token, email] = [fields.text('token'), fields.line('email')];
  const visitor = (await visitorOf(asked))?.person.id;
  const password = fields.text('password');
  const done = await claim(world, desk, { token, password, email, visitor, way: 'portal', ip: request.ip });
  if (!('organization' in done)) {
    if (isRefusal(done)) return refusedLink(asked, done.kind);
    const { filled, status } = troubleOf(done, email === undefined ? {} : { email });
    return setupPage(asked, token, filled, status);
  }
  await signIn(asked, done.user);
  return go(asked, `/o/${publicId('organization', done.organization)}?done=${done.kind}`);
}
