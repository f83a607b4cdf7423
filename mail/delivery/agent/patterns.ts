/** Whether a list of addresses and domains names an address, as it is compared. A domain means itself only. */
export function covers(list: readonly string[], key: string): boolean {
  const domain = key.slice(key.lastIndexOf('@') + 1);
  return list.some((one) => one.toLowerCase() === key || one.toLowerCase() === domain);
}
