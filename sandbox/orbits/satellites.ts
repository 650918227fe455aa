/**
 * The sandbox vendor's satellites: two-line elements of three fictional ones. They orbit at about 590 km, not quite 15 times a day, in
 * sun-synchronous planes, so that each crosses the equator southwards at the same local time: two at half past ten,
 * a third of an orbit apart, and one at nine. The elements have no drag, so they are valid for years.
 */
export interface Satellite {
  readonly name: string
  readonly noradId: number
  readonly elements: readonly [string, string]
}

export const SATELLITES: readonly Satellite[] = [
  {
    name: 'Sandbox 1',
    noradId: 99_001,
    elements: [
      '1 99001U 26001A   26001.00000000  .00000000  00000-0  00000-0 0  9997',
      '2 99001  97.7408  78.1592 0001000  90.0000   0.0000 14.93170000    14',
    ],
  },
  {
    name: 'Sandbox 2',
    noradId: 99_002,
    elements: [
      '1 99002U 26001B   26001.00000000  .00000000  00000-0  00000-0 0  9998',
      '2 99002  97.7408  78.1592 0001000  90.0000 120.0000 14.93170000    18',
    ],
  },
  {
    name: 'Sandbox 3',
    noradId: 99_003,
    elements: [
      '1 99003U 26001C   26001.00000000  .00000000  00000-0  00000-0 0  9999',
      '2 99003  97.7408  55.6592 0001000  90.0000  60.0000 14.93170000    12',
    ],
  },
]
