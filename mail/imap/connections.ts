import ipaddr from 'ipaddr.js';

/** Counts open connections, all and by address, and says when there are too many. */
export class Connections {
  private all = 0;
  private readonly byNetwork = new Map<string, number>();
  private readonly most: number;
  private readonly mostEach: number;

  constructor(most: number, mostEach: number) {
    this.most = most;
    this.mostEach = mostEach;
  }

  /** Takes a place, or says which limit is reached. An exempt connection counts among all only. */
  enter(ip: string, exempt: boolean): 'in' | 'full' | 'too-many-of-this-address' {
    if (this.all >= this.most) return 'full';
    if (!exempt) {
      const network = networkOf(ip);
      const there = this.byNetwork.get(network) ?? 0;
      if (there >= this.mostEach) return 'too-many-of-this-address';
      this.byNetwork.set(network, there + 1);
    }
    this.all += 1;
    return 'in';
  }

  leave(ip: string, exempt: boolean): void {
    this.all -= 1;
    if (exempt) return;
    const network = networkOf(ip);
    const there = (this.byNetwork.get(network) ?? 1) - 1;
    if (there > 0) this.byNetwork.set(network, there);
    else this.byNetwork.delete(network);
  }
}

/** One IPv4 address, or the /64 of an IPv6 address: a subscriber owns at least that much and could use it all. */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip;
  try {
    const address = ipaddr.process(ip.split('%')[0] ?? ip);
    return address instanceof ipaddr.IPv6 ? `${address.parts.slice(0, 4).join(':')}::/64` : address.toString();
  } catch {
    return ip;
  }
}

/** 127.0.0.0/8 and ::1, also written as an IPv4-mapped address. */
export function isLoopback(ip: string): boolean {
  return /^(?:::ffff:)?127\./i.test(ip) || ip === '::1';
}
