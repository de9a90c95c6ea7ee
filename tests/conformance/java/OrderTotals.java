// A Kafka Streams application: its arguments are its settings, and it ends when its input does.
// Orders (customer:amount, by order) are copied, summed up for each customer beside the customer's
// name, and counted in windows: a repartition, stores with changelogs, a join of two tables.

import java.io.IOException;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;

public class OrderTotals {
    public static void main(String[] args) throws IOException {
        Properties settings = new Properties();
        settings.put("default.key.serde", Serdes.StringSerde.class.getName());
        settings.put("default.value.serde", Serdes.StringSerde.class.getName());
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        StreamsBuilder builder = new StreamsBuilder();
        build(builder);
        try (KafkaStreams streams = new KafkaStreams(builder.build(), settings)) {
            streams.setUncaughtExceptionHandler(error -> StreamThreadExceptionResponse.REPLACE_THREAD);
            streams.start();
            while (System.in.read() != -1) {
                continue;
            }
        }
    }

    private static void build(StreamsBuilder builder) {
        KStream<String, String> orders = builder.stream("orders");
        orders.to("copies");
        KTable<String, String> names = builder.table("customers", Materialized.as("names"));
        KGroupedStream<String, String> byCustomer = orders
                .map((order, value) -> KeyValue.pair(part(value, 0), part(value, 1)))
                .groupByKey(Grouped.as("by-customer"));
        byCustomer.aggregate(() -> "0:0", (name, amount, total) -> add(total, amount), Materialized.as("sums"))
                .join(names, (total, name) -> name + ":" + total)
                .toStream()
                .to("totals");
        byCustomer.windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofSeconds(5), Duration.ofHours(1)))
                .count(Materialized.as("counts"))
                .toStream((window, count) -> window.key() + "@" + window.window().start())
                .mapValues(count -> count.toString())
                .to("windows");
    }

    private static String add(String total, String amount) {
        long count = Long.parseLong(part(total, 0)) + 1;
        return count + ":" + (Long.parseLong(part(total, 1)) + Long.parseLong(amount));
    }

    private static String part(String value, int index) {
        return value.split(":")[index];
    }
}
