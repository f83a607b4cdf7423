import ipaddr from 'ipaddr.js';
import type { Limits } from './options.ts';

/** Counts connections against the limits. RFC 5321 has nothing on this; without it one peer takes every slot. */
export class Admission {
  readonly #limits: Pick<Limits, 'connections' | 'connectionsPerIp' | 'stress'>;
  readonly #networks = new Map<string, number>();
  #open = 0;

  constructor(limits: Pick<Limits, 'connections' | 'connectionsPerIp' | 'stress'>) {
    this.#limits = limits;
  }

  /** True when so many slots are taken that slow peers are not waited for. */
  get stressed(): boolean {
    return this.#open > this.#limits.connections * this.#limits.stress;
  }

  /** Counts a connection in, or says which limit it is over. Who is counted in must {@link leave}. */
  enter(ip: string, trusted: boolean): 'in' | 'full' | 'too-many' {
    const network = networkOf(ip);
    const here = this.#networks.get(network) ?? 0;
    if (!trusted && this.#open >= this.#limits.connections) return 'full';
    if (!trusted && here >= this.#limits.connectionsPerIp) return 'too-many';
    this.#networks.set(network, here + 1);
    this.#open += 1;
    return 'in';
  }

  leave(ip: string): void {
    const network = networkOf(ip);
    const here = this.#networks.get(network) ?? 0;
    if (here > 1) this.#networks.set(network, here - 1);
    else this.#networks.delete(network);
    this.#open -= 1;
  }
}

/** The address for IPv4, the /64 for IPv6, where one customer has at least that many addresses. */
export function networkOf(ip: string): string {
  if (!ip.includes(':') || !ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv4' ? address.toString() : address.toByteArray().slice(0, 8).join('.');
}

/** 127.0.0.0/8 and ::1. */
export function isLoopback(ip: string): boolean {
  return ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback';
}
