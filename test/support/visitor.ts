import { type Box, startBox } from './box.ts';
import { http, type Said, tool } from './mcp.ts';

/** A browser without windows: keeps cookies, sends forms as browsers do, follows nothing by itself. */
export class Visitor {
  readonly base: string;
  readonly #cookies = new Map<string, string>();

  constructor(base: string) {
    this.base = base;
  }

  /** The Cookie header. */
  get cookie(): string | undefined {
    const pairs = [...this.#cookies].map(([name, value]) => `${name}=${value}`);
    return pairs.length === 0 ? undefined : pairs.join('; ');
  }

  set cookie(pair: string | undefined) {
    this.#cookies.clear();
    if (pair !== undefined) this.#keep(pair);
  }

  /** Value of the session cookie. */
  get secret(): string {
    return this.cookieOf('mailstead');
  }

  cookieOf(name: string): string {
    return this.#cookies.get(name) ?? '';
  }

  #keep(pair: string): void {
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }

  async get(path: string, method = 'GET'): Promise<Said> {
    return this.#kept(await http(method, `${this.base}${path}`, this.#headers()));
  }

  /** Sends a form; `headers` replace those that a browser sends. */
  async post(path: string, fields: Readonly<Record<string, string | string[]>>, headers: Headers = {}): Promise<Said> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
    const sent = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
    return this.#kept(
      await http('POST', `${this.base}${path}`, { ...this.#headers(), ...sent, ...headers }, body.toString()),
    );
  }

  /** Does something on a page of an organization, with the token that its forms carry. */
  async act(path: string, act: string, fields: Readonly<Record<string, string | string[]>> = {}): Promise<Said> {
    return this.post(path, { ...fields, do: act, form: await this.formToken(path) });
  }

  async formToken(path: string): Promise<string> {
    const { text } = await this.get(path);
    return /name="form" value="([^"]+)"/.exec(text)?.[1] ?? '';
  }

  async signIn(email: string, password: string): Promise<Said> {
    return this.post('/login', { email, password });
  }

  #headers(): Record<string, string> {
    return this.cookie === undefined ? {} : { cookie: this.cookie };
  }

  #kept(said: Said): Said {
    for (const line of [said.headers['set-cookie'] ?? []].flat()) {
      this.#keep(line.split(';', 1)[0] ?? '');
    }
    return said;
  }
}

type Headers = Readonly<Record<string, string>>;

/** Where an answer leads. */
export function leads({ status, headers }: Said): string {
  return `${status} ${String(headers['location'] ?? '')}`;
}

/** An organization with its owner signed in, who claimed by the link that the agent was given. */
export async function ownedOrganization(
  base: string,
  name: string,
  email: string,
): Promise<{ owner: Visitor; id: string; token: string; path: string; claimToken: string }> {
  const args = JSON.stringify({ ownerEmail: email, organizationName: name });
  const json = { 'content-type': 'application/json' };
  const made = await http('POST', `${base}/api/tools/create_account_and_claim_link`, json, args);
  const { claimUrl, token, organization } = made.json as unknown as {
    claimUrl: string;
    token: string;
    organization: { id: string };
  };
  const claimToken = new URL(claimUrl).searchParams.get('token') ?? '';
  const owner = new Visitor(base);
  const done = await owner.post('/auth/setup', { token: claimToken, password: OWNER_PASSWORD });
  const path = `/o/${organization.id}`;
  if (leads(done) !== `303 ${path}?done=claimed`) throw new Error(`not claimed: ${leads(done)} ${made.text}`);
  return { owner, id: organization.id, token, path, claimToken };
}

export const OWNER_PASSWORD = 'a calculus of logic';

/** The owner of the operator's organization, by the link that a box in local mode printed at its start. */
export async function operatorOf(box: Box): Promise<Visitor> {
  const links = box.printed.map((line) => /\/auth\/sign-in\?token=([0-9a-f]{48})/.exec(line)?.[1]);
  const operator = new Visitor(`http://127.0.0.1:${box.port('http')}`);
  const done = await operator.post('/auth/sign-in', { token: links.findLast((one) => one !== undefined) ?? '' });
  if (leads(done) !== '303 /') throw new Error(`not signed in: ${leads(done)}`);
  return operator;
}

/** A box with two organizations whose owners are signed in; the first has a domain and two mailboxes on it. */
export interface PortalBox {
  box: Box;
  base: string;
  acme: Owned;
  other: Owned;
}

export type Owned = Awaited<ReturnType<typeof ownedOrganization>>;

export async function portalBox(settings: Readonly<Record<string, string>> = {}): Promise<PortalBox> {
  const box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8', ...settings } });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const acme = await ownedOrganization(base, 'Acme', 'ada@example.test');
  const other = await ownedOrganization(base, 'Other', 'eve@example.test');
  await tool(base, 'add_email_domain', { domain: 'acme.test' }, acme.token);
  await tool(base, 'verify_email_domain', { domain: 'acme.test' }, acme.token);
  for (const localPart of ['anna', 'bert']) {
    await tool(base, 'provision_email', { domain: 'acme.test', localPart }, acme.token);
  }
  return { box, base, acme, other };
}
