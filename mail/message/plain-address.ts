/** True for an unquoted address; a quoted local part could contain whole sentences. */
export function isPlainAddress(address: string): boolean {
  return /^[\p{L}\p{N}.!#$%&'*+/=?^_{|}~-]{1,64}@[\p{L}\p{N}.-]{1,253}$/u.test(address);
}

/** Formats an address for agents; hides a quoted local part, which could carry a prompt injection. */
export function plainAddress(address: string): string {
  if (address === '' || isPlainAddress(address)) return address;
  const domain = /@([\p{L}\p{N}.-]{1,253})$/u.exec(address)?.[1];
  return domain === undefined ? '"..."' : `"..."@${domain}`;
}
