/** Whether a name can be asked for: labels of 1 to 63 octets, 253 together, no dot at the end. RFC 1035 2.3.4. */
export function isDnsName(name: string): boolean {
  if (name === '' || name.length > 253) return false;
  return name.split('.').every((label) => label !== '' && label.length <= 63);
}

/** True for `name` itself and for all that is below it. Names are in lower case. */
export function isWithin(name: string, parent: string): boolean {
  return name === parent || (parent !== '' && name.endsWith(`.${parent}`));
}
