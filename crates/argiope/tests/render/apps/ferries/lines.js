export const LINES = {
  north: 'The boat to the north bank carries twelve cars and as many bicycles as can be leant against the rail. It goes when it is full, and on quiet days it goes when the ferryman has finished his tea.',
  south: 'A cable as thick as a wrist lies on the ground of the river, and the boat pulls itself along it. Nobody steers. In high water the cable hums, and then the crossing takes twice as long as usual.',
  island: 'Only walkers are taken to the island, since there is no road on it. The last boat back leaves at sunset, which the timetable gives for each week of the year, and it does not wait.',
  night: 'After midnight a bell on the landing calls the boat. It is a small one with a lantern, for six people, and whoever rings the bell twice pays double. It has no place in the list of the lines.',
};
