import {
  addPasskey,
  addPasskeyChallenge,
  listPasskeys,
  type PasskeyRow,
  removePasskey,
  takePasskeyChallenge,
} from '../people/passkey-commands.ts';
import { newRecoveryCodes } from '../people/recovery-code.ts';
import { formToken, hashOf } from '../people/secrets.ts';
import { creationOptions, readResponse, type RegisteredPasskey, verifyRegistration } from '../people/webauthn.ts';
import { dateOnly, table, timestamp } from './components.ts';
import { EMPTY_FORM, field, type FormState, hidden } from './forms.ts';
import { proofField, proveAgain, refusedFactor } from './fresh-factor.ts';
import type { Fields } from './form-fields.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import type { PageExchange, Visitor } from './page-exchange.ts';
import { newChallenge, partyOf, passkeyForm, userHandle } from './passkey-party.ts';
import { codesPanel, type SecurityOutcome, SECURITY_PATH } from './security-state.ts';
import { translatorOf } from './translator.ts';

const MAX_NAME = 60;

/** Shows the form whose script registers a passkey. */
export async function startPasskey(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<SecurityOutcome> {
  const refusal = await proveAgain(exchange, visitor, fields);
  if (refusal !== undefined) return { action: 'passkey', ...refusal };
  const party = partyOf(exchange);
  const hash = hashOf(visitor.secret);
  const t = translatorOf(exchange.request);
  if (party === undefined || hash === undefined) return { action: 'passkey', ...refusedFactor(t('passkey.no-name')) };
  const { store, secrets } = exchange.context;
  const { id, email, displayName } = visitor.person;
  const challenge = newChallenge();
  await store.write(addPasskeyChallenge, { hash, purpose: 'register', challenge });
  const exclude = (await store.read(listPasskeys, { user: id })).map((one) => one.credentialId);
  const user = { userHandle: userHandle(secrets, id), email, displayName: displayName ?? email };
  const form = {
    kind: 'create',
    action: SECURITY_PATH,
    options: creationOptions(party, user, { challenge, exclude }),
  } as const;
  const inputs = [
    hidden('form', formToken(visitor.secret)),
    hidden('do', 'add-passkey'),
    hidden('name', nameOf(fields)),
  ];
  const panel = html`<section class="secret">
    <h2>${t('passkey.register')}</h2>
    <p>${t('passkey.where')}</p>
    ${passkeyForm(t, form, inputs, t('passkey.register-button'))}
  </section>`;
  return { panel, script: 'passkey' };
}

function nameOf(fields: Fields): string {
  const name = fields
    .text('name')
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, ' ')
    .trim();
  return name === '' ? 'Passkey' : name.slice(0, MAX_NAME).toWellFormed();
}

/** Verifies the browser's answer and stores the passkey. */
export async function finishPasskey(
  exchange: PageExchange,
  visitor: Visitor,
  fields: Fields,
): Promise<SecurityOutcome> {
  const passkey = await registered(exchange, visitor, fields.text('credential'));
  const t = translatorOf(exchange.request);
  if (passkey === undefined) return { action: 'passkey', ...refusedFactor(t('passkey.not-accepted')) };
  const { codes, hashes } = newRecoveryCodes();
  const actor = { user: visitor.person.id, ip: exchange.request.ip, session: visitor.session.id };
  const done = await exchange.context.store.write(addPasskey, {
    ...actor,
    name: nameOf(fields),
    passkey,
    codes: hashes,
  });
  switch (done.kind) {
    case 'added':
      return done.withCodes ? { panel: codesPanel(t, codes) } : { done: 'passkey' };
    case 'known':
      return { action: 'passkey', ...refusedFactor(t('passkey.known')) };
    case 'too-many':
      return { action: 'passkey', ...refusedFactor(t('passkey.too-many')) };
  }
}

async function registered(
  exchange: PageExchange,
  { secret }: Visitor,
  text: string,
): Promise<RegisteredPasskey | undefined> {
  const [party, hash] = [partyOf(exchange), hashOf(secret)];
  const given = hash && (await exchange.context.store.write(takePasskeyChallenge, { hash, purpose: 'register' }));
  const response = readResponse(text);
  if (party === undefined || given === undefined || response === undefined) return undefined;
  return verifyRegistration(response, { party, challenge: given.challenge });
}

/** Removes a passkey; `required`: an organization that forbids to remove the last second factor. */
export async function endPasskey(
  exchange: PageExchange,
  visitor: Visitor,
  fields: Fields,
  required: string | undefined,
): Promise<SecurityOutcome> {
  const refusal = required === undefined ? await proveAgain(exchange, visitor, fields) : refusedFactor(required);
  if (refusal !== undefined) return { action: 'remove-passkey', ...refusal };
  const passkey = Number(/^[1-9]\d{0,14}$/.exec(fields.text('passkey'))?.[0] ?? 0);
  const actor = { user: visitor.person.id, ip: exchange.request.ip };
  await exchange.context.store.write(removePasskey, { ...actor, passkey });
  return { done: 'removed' };
}

/** The passkeys of the person, with the form for another. */
export function passkeySection(
  exchange: PageExchange,
  visitor: Visitor,
  all: readonly PasskeyRow[],
  { action, form }: { action: string | undefined; form: FormState },
): Html {
  const own = action === 'passkey' ? form : EMPTY_FORM;
  const t = translatorOf(exchange.request);
  const optional = t('field.optional');
  const name = {
    name: 'name',
    id: 'passkey-name',
    label: t('passkey.name'),
    optional,
    placeholder: t('passkey.phone'),
  };
  return html`<section>
    <h2>${t('passkey.title')}</h2>
    <p>${t('passkey.about')}</p>
    ${all.length > 0 && passkeyTable(exchange, visitor, all)}
    <form class="sheet" method="post" action="${SECURITY_PATH}">
      ${hidden('form', formToken(visitor.secret))} ${hidden('do', 'passkey')} ${field(name, own)}
      ${proofField(exchange, visitor, own, 'passkey-code')}
      <button>${t('passkey.register')}</button>
    </form>
  </section>`;
}

function passkeyTable(exchange: PageExchange, visitor: Visitor, all: readonly PasskeyRow[]): HtmlPart {
  const t = translatorOf(exchange.request);
  return table(
    t('passkey.title'),
    [t('passkey.name'), t('passkey.since'), t('devices.last-used'), ''],
    all.map(({ id, name, createdAt, lastUsedAt }) => [
      html`<bdi>${name}</bdi>`,
      dateOnly(new Date(createdAt).toISOString(), t),
      lastUsedAt === null ? t('devices.never') : timestamp(lastUsedAt, t),
      html`<details class="sure">
        <summary>${t('passkey.remove')}</summary>
        <form method="post" action="${SECURITY_PATH}">
          ${hidden('form', formToken(visitor.secret))} ${hidden('do', 'remove-passkey')}
          ${hidden('passkey', String(id))}
          <p class="small">${t.rich('passkey.remove-text', { name: html`<bdi>${name}</bdi>` })}</p>
          ${proofField(exchange, visitor, EMPTY_FORM, `remove-${id}-code`)}
          <button class="bad">${t('passkey.remove')}</button>
        </form>
      </details>`,
    ]),
    t,
  );
}
