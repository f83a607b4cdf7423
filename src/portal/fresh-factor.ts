import { spendFactor } from '../people/code-commands.ts';
import type { FactorProof, SignInMethod } from '../people/factor-commands.ts';
import { admitFactorCheck } from '../people/pending-commands.ts';
import { checkSecondFactor } from '../people/second-factor.ts';
import { field, type FormState } from './forms.ts';
import type { Fields } from './form-fields.ts';
import type { HtmlPart } from './html.ts';
import { tooManyAttempts } from './link-errors.ts';
import type { PageExchange, Visitor } from './page-exchange.ts';
import { isFresh, reauthenticate, reauthenticationField } from './reauthentication.ts';
import { factorCodeField } from './step-pages.ts';
import { type Translator, translatorOf } from './translator.ts';

/** Refusal of a form: an error at its code, or about the whole form. */
export interface FactorRefusal {
  form: FormState;
  status: number;
}

/** Checks a fresh code of the visitor. The command that it allows uses it up. */
export async function checkFreshCode(
  exchange: PageExchange,
  visitor: Visitor,
  text: string,
): Promise<{ proof: FactorProof } | FactorRefusal> {
  const { context, request } = exchange;
  const admit = () => context.store.write(admitFactorCheck, { user: visitor.person.id });
  const checked = await checkSecondFactor(exchange, { text, ip: request.ip }, admit);
  if (checked.kind === 'right') return { proof: checked.proof };
  const t = translatorOf(request);
  if (checked.kind !== 'throttled') return wrongCode(t);
  return refusedFactor(tooManyAttempts(t, checked.retryAfter, 'codes'), 429);
}

export function wrongCode(t: Translator): FactorRefusal {
  return { form: { values: {}, errors: { code: t('step.wrong-code') } }, status: 422 };
}

export function refusedFactor(problem: string, status = 422): FactorRefusal {
  return { form: { values: {}, errors: {}, problem }, status };
}

const STRONG: ReadonlySet<SignInMethod> = new Set(['totp', 'recovery', 'passkey']);

/** True if the session is recent, and began with the second factor of a person who has one. */
function isProven(exchange: PageExchange, visitor: Visitor): boolean {
  return isFresh(exchange, visitor) && (!visitor.person.secondFactor || STRONG.has(visitor.session.method));
}

/**
 * Requires a recent sign-in before a change of the ways to sign in, with the second factor of a person who has one: a session
 * stolen with the password alone must not add a way of its own. Returns the refusal.
 */
export async function proveAgain(
  exchange: PageExchange,
  visitor: Visitor,
  fields: Fields,
): Promise<FactorRefusal | undefined> {
  if (isProven(exchange, visitor)) return undefined;
  if (!visitor.person.secondFactor) {
    const problem = await reauthenticate(exchange, visitor, fields.text('password'));
    return problem === undefined ? undefined : refusedFactor(problem);
  }
  const checked = await checkFreshCode(exchange, visitor, fields.text('code'));
  if (!('proof' in checked)) return checked;
  const done = await exchange.context.store.write(spendFactor, { user: visitor.person.id, proof: checked.proof });
  return done.kind === 'spent' ? undefined : wrongCode(translatorOf(exchange.request));
}

/** Field for {@link proveAgain}; undefined if none is needed. */
export function proofField(exchange: PageExchange, visitor: Visitor, form: FormState, id: string): HtmlPart {
  if (isProven(exchange, visitor)) return undefined;
  if (!visitor.person.secondFactor) return reauthenticationField(exchange, visitor, form);
  const t = translatorOf(exchange.request);
  return field({ ...factorCodeField(t), id, hint: t('step.fresh-hint') }, form);
}
