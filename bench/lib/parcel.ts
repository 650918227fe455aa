/** Where the rasters of `zonal` and `series` begin, in degrees, and the one parcel that both ask about. */
export const [WEST, NORTH] = [10, 50] as const

export const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [WEST + 0.03, NORTH - 0.02],
      [WEST + 0.0412, NORTH - 0.0213],
      [WEST + 0.0404, NORTH - 0.0302],
      [WEST + 0.0291, NORTH - 0.0307],
      [WEST + 0.03, NORTH - 0.02],
    ],
  ],
}
