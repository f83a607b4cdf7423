/** Local parts with mail about the whole domain: RFC 2142, and proofs of control for certificates (CA/B BR 3.2.2.4.4). */
const ROLE_NAMES: readonly string[] = [
  'abuse',
  'admin',
  'administrator',
  'hostmaster',
  'noc',
  'postmaster',
  'root',
  'security',
  'webmaster',
];

export function isRoleName(localPart: string): boolean {
  return ROLE_NAMES.includes(localPart.toLowerCase());
}
