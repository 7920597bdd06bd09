import Night from './night';

export default function Timetable() {
  return (
    <>
      <h1>Timetable</h1>
      <p>
        From March to October a boat leaves every twenty minutes, and in winter every hour. In fog all boats stay where they are
        until the church on the other bank can be seen. There is no service on the day of the regatta, and the town is told by post.
      </p>
      <Night />
    </>
  );
}
