/** True for a valid name: labels of 1 to 63 octets, 253 in total, no trailing dot. RFC 1035 2.3.4. */
export function isDnsName(name: string): boolean {
  if (name === '' || name.length > 253) return false;
  return name.split('.').every((label) => label !== '' && label.length <= 63);
}

/** True when `name` is `parent` or a subdomain of it. Names are in lower case. */
export function isWithin(name: string, parent: string): boolean {
  return name === parent || (parent !== '' && name.endsWith(`.${parent}`));
}
