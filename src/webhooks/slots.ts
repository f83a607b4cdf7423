const MOST = 100;
const MOST_OF_A_HOST = 10;
/** Hosts cost nothing to make up: without this one organization could keep every slot busy with what never answers. */
const MOST_OF_AN_ORGANIZATION = 40;

interface Taker {
  host: string;
  organization: number;
}

/** How many receivers are told at the same time: in all, of one host, and of one organization. */
export class Slots {
  readonly #hosts = new Map<string, number>();
  readonly #organizations = new Map<number, number>();
  #taken = 0;

  get full(): boolean {
    return this.#taken >= MOST;
  }

  take({ host, organization }: Taker): boolean {
    const ofHost = this.#hosts.get(host) ?? 0;
    const ofOrganization = this.#organizations.get(organization) ?? 0;
    if (this.full || ofHost >= MOST_OF_A_HOST || ofOrganization >= MOST_OF_AN_ORGANIZATION) return false;
    this.#hosts.set(host, ofHost + 1);
    this.#organizations.set(organization, ofOrganization + 1);
    this.#taken++;
    return true;
  }

  release({ host, organization }: Taker): void {
    less(this.#hosts, host);
    less(this.#organizations, organization);
    this.#taken--;
  }
}

function less<K>(counts: Map<K, number>, key: K): void {
  const left = (counts.get(key) ?? 1) - 1;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}
