import { chooseLine, type ListedDomain, resultOf, type SetupArguments, type SetupTerminal } from './setup-terminal.ts';

/** A DNS provider, as `get_dns_provider` lists it. */
export interface SetupProvider {
  provider: string;
  title: string;
  scope: string;
  credentials: { name: string; label: string; secret: boolean; optional: boolean }[];
}

/** Times that credentials may be typed: the provider refuses wrong ones. */
const MAX_TRIES = 3;

/** Connects the provider of the arguments. */
export async function connectGiven(
  { call }: SetupTerminal,
  { id }: ListedDomain,
  { id: provider, credentials }: NonNullable<SetupArguments['provider']>,
): Promise<void> {
  await resultOf(call('connect_dns_provider', { domainId: id, provider, credentials }));
}

/** Asks for the provider and its credentials until they are right; false: they were not. */
export async function connectChosen(
  terminal: SetupTerminal,
  { id }: ListedDomain,
  providers: readonly SetupProvider[],
): Promise<boolean> {
  const titles = providers.map(({ title }) => title);
  const chosen = await chooseLine(terminal, 'DNS provider:', titles);
  const one = chosen === undefined ? undefined : providers[chosen];
  if (one === undefined) return false;
  terminal.print(`${one.title} needs: ${one.scope}.`);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const credentials = await askCredentials(terminal, one);
    if (credentials === undefined) return false;
    const answer = await terminal.call('connect_dns_provider', { domainId: id, provider: one.provider, credentials });
    if (answer.kind === 'done') return true;
    terminal.print(answer.message);
  }
  return false;
}

async function askCredentials(
  { ask, askSecret }: SetupTerminal,
  { credentials }: SetupProvider,
): Promise<Record<string, string> | undefined> {
  const given: Record<string, string> = {};
  for (const { name, label, secret, optional } of credentials) {
    const question = `${label}${optional ? ' (optional)' : ''}: `;
    const typed = await (secret ? askSecret(question) : ask(question));
    if (typed === undefined || (typed === '' && !optional)) return undefined;
    if (typed !== '') given[name] = typed;
  }
  return given;
}
