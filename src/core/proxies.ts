/** Trusted proxies, as configured by the operator: the client address and host that they forward are trusted. */
import ipaddr from 'ipaddr.js'

export type IsTrusted = (address: string | undefined) => boolean

/** `networks` are addresses or CIDR blocks. */
export function trusting(networks: readonly string[]): IsTrusted {
  if (networks.length === 0) return () => false
  return (address) => address !== undefined && ipaddr.isValid(address) && networks.some((network) => isIn(ipaddr.process(address), network))
}

function isIn(peer: ipaddr.IPv4 | ipaddr.IPv6, network: string): boolean {
  if (!network.includes('/')) return ipaddr.isValid(network) && ipaddr.process(network).toString() === peer.toString()
  if (!ipaddr.isValidCIDR(network)) return false
  const [block, bits] = ipaddr.parseCIDR(network)
  return block.kind() === peer.kind() && peer.match(block, bits)
}
