import ipaddr from 'ipaddr.js';

/** Addresses of public resolvers, by operator. */
const PUBLIC_RESOLVERS: Readonly<Record<string, readonly string[]>> = {
  Google: ['8.8.8.8', '8.8.4.4', '2001:4860:4860::8888', '2001:4860:4860::8844'],
  Cloudflare: ['1.1.1.1', '1.0.0.1', '1.1.1.2', '1.0.0.2', '2606:4700:4700::1111', '2606:4700:4700::1001'],
  Quad9: ['9.9.9.9', '149.112.112.112', '9.9.9.10', '149.112.112.10', '2620:fe::fe', '2620:fe::9', '2620:fe::10'],
  OpenDNS: ['208.67.222.222', '208.67.220.220', '2620:119:35::35', '2620:119:53::53'],
  AdGuard: ['94.140.14.14', '94.140.15.15', '94.140.14.140', '94.140.14.141', '2a10:50c0::ad1:ff', '2a10:50c0::ad2:ff'],
  Verisign: ['64.6.64.6', '64.6.65.6'],
  Level3: ['4.2.2.1', '4.2.2.2', '4.2.2.3', '4.2.2.4'],
};

/**
 * Finds the first public resolver among servers in Node's notation. DNS blocklists count queries per resolver and refuse
 * public ones.
 */
export function findPublicResolver(servers: readonly string[]): { server: string; owner: string } | undefined {
  for (const server of servers) {
    const ip = server.replace(/^\[([^\]]*)\].*$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
    const owner = ipaddr.isValid(ip) ? ownerOf(ipaddr.process(ip).toString()) : undefined;
    if (owner !== undefined) return { server: ip, owner };
  }
  return undefined;
}

function ownerOf(address: string): string | undefined {
  const found = Object.entries(PUBLIC_RESOLVERS).find(([, all]) =>
    all.some((one) => ipaddr.parse(one).toString() === address),
  );
  return found?.[0];
}
