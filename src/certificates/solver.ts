import type { Resolver } from '../../mail/dns/lookup.ts';
import { type ChallengeAnswers, dnsText, type TxtPublisher } from '../acme/challenge-answers.ts';
import type { ChallengeSolver, ChallengeTask, ChallengeType } from '../acme/order.ts';

export interface SolverContext {
  answers: ChallengeAnswers;
  resolver: Resolver;
  /** In the order in which they are asked. */
  publishers: readonly TxtPublisher[];
  /** Challenge that the settings demand; auto: each in turn. */
  only: ChallengeType | 'auto';
  /** Open listeners. */
  http: boolean;
  https: boolean;
  clock: () => number;
}

/** Answers challenges by the HTTP listener, the HTTPS listener, or TXT records. `turn`: failures of a name so far. */
export function challengeSolver(context: SolverContext, turn: (name: string) => number): ChallengeSolver {
  return {
    async choose(name, offered) {
      const usable: ChallengeType[] = [];
      for (const type of offered) if (await isUsable(context, type, name)) usable.push(type);
      // Another one after each failure: port 80 may be closed by a provider, port 443 taken by a proxy.
      return usable[turn(name) % Math.max(1, usable.length)];
    },
    present: (task) => presentAnswer(context, task),
  };
}

async function isUsable(context: SolverContext, type: ChallengeType, name: string): Promise<boolean> {
  if (context.only !== 'auto' && context.only !== type) return false;
  switch (type) {
    case 'http-01':
      return context.http;
    case 'tls-alpn-01':
      return context.https;
    case 'dns-01':
      return (await txtTarget(context, name)) !== undefined;
  }
}

async function presentAnswer(context: SolverContext, task: ChallengeTask): Promise<AsyncDisposable> {
  switch (task.type) {
    case 'http-01':
      return context.answers.addToken(task);
    case 'tls-alpn-01':
      return context.answers.addCertificate(task, context.clock());
    case 'dns-01': {
      const target = await txtTarget(context, task.name);
      if (target === undefined) throw new Error(`no zone for the challenge of ${task.name}`);
      const text = dnsText(task.keyAuthorization);
      await target.publisher.publishTxt(target.name, text);
      return { [Symbol.asyncDispose]: () => target.publisher.removeTxt(target.name, text) };
    }
  }
}

/** Name and publisher of the TXT record: a CNAME at the name of RFC 8555 8.4 may lead into another zone. */
async function txtTarget(
  { resolver, publishers }: SolverContext,
  name: string,
): Promise<{ name: string; publisher: TxtPublisher } | undefined> {
  const own = `_acme-challenge.${name}`;
  const alias = await resolver.cname(own);
  const target = alias.kind === 'found' ? (alias.records[0] ?? own) : own;
  for (const publisher of publishers) if (await publisher.serves(target, name)) return { name: target, publisher };
  return undefined;
}
